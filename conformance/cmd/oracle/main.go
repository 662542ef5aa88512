// Command oracle shows what effect@4.1.0 does with one program.
//
//	go run ./cmd/oracle program.json
//	echo '["seq",["log","a"],["now"]]' | go run ./cmd/oracle -
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/rivus/tether/conformance"
)

func main() {
	asJSON := flag.Bool("json", false, "print the result as one line of JSON")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: oracle [-json] FILE|-")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string, asJSON bool) (err error) {
	text, err := read(file)
	if err != nil {
		return err
	}
	program, err := conformance.Decode(bytes.TrimSpace(text))
	if err != nil {
		return err
	}
	oracle, err := conformance.OpenOracle()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, oracle.Close()) }()
	result, err := oracle.Run(program)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(result)
	}
	for _, line := range result.Trace {
		fmt.Println(line)
	}
	fmt.Printf("exit %s\nnow  %d\n", result.Exit, result.Now)
	return nil
}

func read(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(file)
}
