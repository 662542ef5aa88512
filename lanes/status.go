package lanes

// Status is a consistent snapshot: all of it held at one instant.
type Status struct {
	// Running and Queued count the lanes in these states.
	Running int `json:"running"`
	Queued  int `json:"queued"`
	// Closed reports whether wakes are refused: Close or Drain has begun.
	Closed bool `json:"closed"`
	// Lanes are those that are not idle: the running ones in the order they got
	// their slots, then the queued ones in the order they will get one.
	Lanes []LaneStatus `json:"lanes"`
}

// LaneStatus is one lane of a Status.
type LaneStatus struct {
	Key   string `json:"key"`
	State State  `json:"state"`
	// Pending tells that an activation is to come: the lane is queued, or it is
	// running and was woken meanwhile.
	Pending bool `json:"pending"`
}
