// Package proptest tests programs of this module, and implementations of its
// ports, by properties: rapid makes the cases and shrinks those that fail.
package proptest
