// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// The verbs, ends and groups of tests/linearizability/history.hpp, in its order.
const (
	find = iota
	insert
	assign
	erase
	extract
	insertOrAssign
	update
	shadowInsert
	shadowCommit
	shadowAbort
	contains
	put
	add
	verbCount
)

const (
	answered = iota
	notExecuted
	noMemory
	full
	unknown
	statusCount
)

const (
	single = iota
	ordered
	stopping
	unordered
	groupingCount
)

// record is one request, as it lies in the file: 48 bytes, little-endian.
type record struct {
	Called, Returned, Key, Argument, Result uint64
	What                                    uint8
	Ok                                      uint8
	Thread                                  uint16
	How                                     uint8
	Group                                   uint8
	Position                                uint16
}

type fileHead struct {
	Magic      [8]byte
	Version    uint32
	RecordSize uint32
	Together   uint64
	Count      uint64
}

// history is a file's records; together: all keys are to be judged as one object.
type history struct {
	records  []record
	together bool
}

func readHistory(path string) (history, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return history{}, err
	}
	reader := bytes.NewReader(content)
	var head fileHead
	if err := binary.Read(reader, binary.LittleEndian, &head); err != nil {
		return history{}, err
	}
	if string(head.Magic[:]) != "cubbyhis" || head.Version != 1 || head.RecordSize != uint32(binary.Size(record{})) {
		return history{}, errors.New("not a history of this version")
	}
	if uint64(reader.Len()) != head.Count*uint64(head.RecordSize) {
		return history{}, errors.New("the file's length is not what its head says")
	}
	h := history{make([]record, head.Count), head.Together != 0}
	if err := binary.Read(reader, binary.LittleEndian, h.records); err != nil {
		return history{}, err
	}
	for i, r := range h.records {
		if r.What >= verbCount || r.How >= statusCount || r.Group >= groupingCount || r.Ok > 1 {
			return history{}, fmt.Errorf("record %d is none", i)
		}
	}
	return h, nil
}

// sameGroup tells whether b, the next record of a thread after a, is of the same batch.
func sameGroup(a, b *record) bool {
	return a.Group != single && a.Group == b.Group && a.Called == b.Called && a.Returned == b.Returned &&
		a.Position < b.Position
}

// batchFlaw says how a batch ended as batches may not; empty when it did not. Porcupine cannot see this: what a batch
// may leave out is no matter of the order of its requests.
func batchFlaw(records []record) string {
	threads := map[uint16][]record{}
	for _, r := range records {
		if r.Group == ordered || r.Group == stopping {
			threads[r.Thread] = append(threads[r.Thread], r)
		} else if r.How == notExecuted {
			return "not executed, outside any batch"
		}
	}
	for _, lane := range threads {
		failed, expected := false, uint16(0)
		for i := range lane {
			r := &lane[i]
			if i == 0 || !sameGroup(&lane[i-1], r) {
				failed, expected = false, 0
			}
			if r.Position != expected {
				return "a request of a batch is missing"
			}
			expected++
			if executed := r.How != notExecuted; executed == failed {
				return "a batch did not stop at its first failure, or stopped without one"
			}
			if r.Group == stopping && !(r.How == answered && r.Ok == 1) {
				failed = true
			}
		}
	}
	return ""
}
