module github.com/rivus/tether/conformance

go 1.27.0

toolchain go1.27.3

replace github.com/rivus/tether => ../
