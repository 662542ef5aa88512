// Command unawaited finds effects that nobody runs. An effect is a lazy value: a
// statement that only builds one, such as
//
//	do.Await(lock)
//	save(result) // forgotten: do.Await(save(result))
//
// does nothing, and the compiler is content with it. Install it and have go vet
// run it:
//
//	go install github.com/rivus/tether/cmd/unawaited@latest
//	go vet -vettool=$(go env GOPATH)/bin/unawaited ./...
//
// An effect that shall not run is written as "_ = effect". It also finds go
// statements that use the Do of the function around them.
package main

import "golang.org/x/tools/go/analysis/singlechecker"

func main() { singlechecker.Main(Analyzer) }
