package main

import (
	"strconv"

	"github.com/rivus/tether/platform"
	"github.com/spf13/cobra"
)

// noSuchKey says that a database never had a lease of the key.
type noSuchKey struct{ path, key string }

func (e *noSuchKey) Error() string {
	return plain(e.path) + " has no key " + strconv.Quote(e.key) + "; tether ls " + shellQuote(e.path) + " lists those that it has"
}

// offered is how many keys a shell is offered: more nobody reads.
const offered = 500

// completeKeys completes a KEY that begins so from the database, for the shell.
func completeKeys(path, begun string) ([]string, cobra.ShellCompDirective) {
	all, err := database{platform.OS(), path}.entries(page{prefix: begun, limit: offered})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	keys := make([]string, 0, len(all))
	for _, e := range all {
		// A shell may print what it completes: no key may move a cursor.
		if plain(e.Key) == e.Key {
			keys = append(keys, e.Key+"\t"+string(e.State))
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}
