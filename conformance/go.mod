module github.com/rivus/tether/conformance

go 1.27.0

toolchain go1.27.3

replace github.com/rivus/tether => ../

require github.com/rivus/tether v0.0.0-00010101000000-000000000000

require (
	github.com/samber/mo v1.16.0 // indirect
	github.com/sourcegraph/conc v0.3.0 // indirect
)
