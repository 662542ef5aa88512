// Package errors holds what every failure of Tether has in common: a tag.
//
// A tagged error answers Tag() with the exact string that the TypeScript
// package puts into `_tag`, so that one log line, one switch and one dashboard
// serve programs of both languages. Its JSON is {"_tag": TAG, ...} with the
// fields of the contract.
//
// The package re-exports the standard library's functions, so that a file needs
// one import for both. It keeps no state and starts nothing.
package errors
