// Package list is an intrusive doubly linked list: adding, and removing from the
// middle, are O(1) and do not allocate beyond the node, which its owner keeps.
// It is not safe for concurrent use.
package list

// onUse has a method compiled where it is called: see effect's.
type onUse interface{ struct{} }

// Node is an element. Its zero value is in no list.
type Node[T any] struct {
	Value      T
	prev, next *Node[T]
	in         *List[T]
}

// Listed tells whether the node is in a list.
func (n *Node[T]) Listed[_ onUse]() bool { return n.in != nil }

// Next is the node behind n, or nil.
func (n *Node[T]) Next[_ onUse]() *Node[T] { return n.next }

// List is a list; its zero value is empty.
type List[T any] struct {
	head, tail *Node[T]
	n          int
}

// Len is the number of nodes.
func (l *List[T]) Len[_ onUse]() int { return l.n }

// Front is the first node, or nil.
func (l *List[T]) Front[_ onUse]() *Node[T] { return l.head }

// Push adds n, which must be in no list, at the end.
func (l *List[T]) Push[_ onUse](n *Node[T]) {
	n.in, n.prev, n.next = l, l.tail, nil
	if l.tail == nil {
		l.head = n
	} else {
		l.tail.next = n
	}
	l.tail = n
	l.n++
}

// PushFront adds n, which must be in no list, at the beginning.
func (l *List[T]) PushFront(n *Node[T]) {
	n.in, n.prev, n.next = l, nil, l.head
	if l.head == nil {
		l.tail = n
	} else {
		l.head.prev = n
	}
	l.head = n
	l.n++
}

// Remove takes n out, or answers false when it is not in l.
func (l *List[T]) Remove[_ onUse](n *Node[T]) bool {
	if n.in != l {
		return false
	}
	if n.prev == nil {
		l.head = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.tail = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.in, n.prev, n.next = nil, nil, nil
	l.n--
	return true
}

// Shift takes the first node out, or answers nil.
func (l *List[T]) Shift[_ onUse]() *Node[T] {
	n := l.head
	if n != nil {
		l.Remove(n)
	}
	return n
}

// Drain takes every node out and answers the first; the others follow it by
// Next. They are in no list any more, so who holds the list's lock may give it
// back before walking them: a Remove of one, in between, changes nothing.
func (l *List[T]) Drain[_ onUse]() *Node[T] {
	first := l.head
	for n := first; n != nil; n = n.next {
		n.in, n.prev = nil, nil
	}
	*l = List[T]{}
	return first
}

// Values are the values in order.
func (l *List[T]) Values[_ onUse]() []T {
	out := make([]T, 0, l.n)
	for n := l.head; n != nil; n = n.next {
		out = append(out, n.Value)
	}
	return out
}
