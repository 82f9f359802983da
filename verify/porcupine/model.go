// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/anishathalye/porcupine"

const (
	absent = iota
	reserved
	present
)

const (
	maxThreads   = 8
	keysTogether = 4
)

type keyState struct {
	is    uint8
	value uint64
}

// state is what is judged at once, a key or a few, and how many requests of each thread have taken effect. Porcupine
// orders operations by their intervals alone, and the requests of a batch share theirs.
type state struct {
	keys [keysTogether]keyState
	done [maxThreads]uint32
}

// request is a record with its key's place in state.keys and its number among its thread's requests.
type request struct {
	record
	place  int
	number uint32
}

var tableModel = porcupine.Model{
	Init: func() interface{} { return state{} },
	Step: func(before, input, _ interface{}) (bool, interface{}) {
		s, r := before.(state), input.(request)
		if s.done[r.Thread] != r.number {
			return false, s
		}
		s.done[r.Thread]++
		ok := true
		s.keys[r.place], ok = after(s.keys[r.place], &r.record)
		return ok, s
	},
}

// after is the key's state behind r, and whether r may have ended as it did.
func after(s keyState, r *record) (keyState, bool) {
	switch r.How {
	case answered:
		return answer(s, r)
	case notExecuted:
		return s, true
	case noMemory:
		switch r.What {
		case find, contains, erase, shadowCommit, shadowAbort:
			return s, false
		}
		return s, true
	case full:
		switch r.What {
		case insert, insertOrAssign, put, add, shadowInsert:
			return s, s.is == absent
		}
	}
	return s, false
}

// answer is after for a request that was answered by yes or no.
func answer(s keyState, r *record) (keyState, bool) {
	yes := r.Ok == 1
	given := keyState{present, r.Argument}
	shown := s.is == present && s.value == r.Result
	switch r.What {
	case find:
		return s, (yes && shown) || (!yes && s.is != present)
	case contains:
		return s, yes == (s.is == present)
	case shadowCommit:
		return given, s.is == reserved
	case shadowAbort:
		return keyState{}, s.is == reserved
	case put:
		return given, s.is != reserved
	case insertOrAssign:
		return given, (yes && s.is == absent) || (!yes && s.is == present)
	case add:
		if yes {
			return given, s.is == absent
		}
		return keyState{present, s.value + r.Argument}, s.is == present
	}
	if !yes {
		if r.What == insert || r.What == shadowInsert {
			return s, s.is != absent
		}
		return s, s.is != present // assign, erase, extract, update
	}
	switch r.What {
	case insert:
		return given, s.is == absent
	case shadowInsert:
		return keyState{reserved, 0}, s.is == absent
	case assign:
		return given, s.is == present
	case update:
		return given, shown
	case erase:
		return keyState{}, s.is == present
	case extract:
		return keyState{}, shown
	}
	return s, false
}
