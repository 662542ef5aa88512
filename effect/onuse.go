package effect

// onUse makes a method of a generic type generic itself, without a word from its
// callers: a type parameter whose constraint has one type is inferred from nothing. A
// plain method is compiled for each type argument that a program reaches, whether it
// is called or not; a generic one is compiled where it is called.
//
// For the same reason the makers of effects whose body is one return of a closure are
// not inlined: the closure would be compiled again at each call.
type onUse interface{ struct{} }
