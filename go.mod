module github.com/rivus/tether

go 1.27.0

toolchain go1.27.3
