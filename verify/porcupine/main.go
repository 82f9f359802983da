// SPDX-License-Identifier: Apache-2.0

// A second opinion on recorded histories: reads the files that `cubby_histories record` writes, judges them with
// Porcupine, and prints for each one line: file, conclusion, records, objects judged, why; divided by tabs.
// The conclusion is "linearizable", "refused" or "not checked". Exit status 0 when every file could be read.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

type conclusion struct {
	text string
	why  string
}

var (
	linearizable = conclusion{text: "linearizable"}
	limit        = flag.Duration("timeout", 2*time.Minute, "for one key")
	most         = flag.Int("records", 20000, "for one key; memory grows with the square")
)

func refused(why string) conclusion    { return conclusion{"refused", why} }
func notChecked(why string) conclusion { return conclusion{"not checked", why} }

// flaw says why one thread's requests cannot be judged; empty when they can.
func flaw(lane []request) string {
	for i := range lane {
		r := &lane[i].record
		if r.How == unknown {
			return "how a request ended is unknown"
		}
		if r.Returned < r.Called {
			return "a call ends before it begins"
		}
		if i == 0 {
			continue
		}
		together := sameGroup(&lane[i-1].record, r)
		if together && r.Group == unordered {
			return "lookups of one unordered batch"
		}
		if !together && r.Called < lane[i-1].Returned {
			return "a thread's calls overlap"
		}
	}
	return ""
}

// judge decides about one object: a key, or a few.
func judge(records []request) conclusion {
	lanes := map[uint16][]request{}
	operations := make([]porcupine.Operation, 0, len(records))
	for _, r := range records {
		if r.Thread >= maxThreads {
			return notChecked("too many threads")
		}
		r.number = uint32(len(lanes[r.Thread]))
		lanes[r.Thread] = append(lanes[r.Thread], r)
		operations = append(operations, porcupine.Operation{
			ClientId: int(r.Thread), Input: r, Call: int64(r.Called), Return: int64(r.Returned)})
	}
	for _, lane := range lanes {
		if why := flaw(lane); why != "" {
			return notChecked(why)
		}
	}
	if len(records) > *most {
		return notChecked("too many records for one key")
	}
	switch porcupine.CheckOperationsTimeout(tableModel, operations, *limit) {
	case porcupine.Ok:
		return linearizable
	case porcupine.Illegal:
		return refused("no order explains it")
	}
	return notChecked("Porcupine could not tell in time")
}

// objects divides a history into what is judged at once; an error when it cannot be.
func objects(h history) (map[uint64][]request, bool) {
	divided := map[uint64][]request{}
	places := map[uint64]int{}
	for _, r := range h.records {
		object, place := r.Key, 0
		if h.together {
			if _, known := places[r.Key]; !known {
				places[r.Key] = len(places)
			}
			object, place = 0, places[r.Key]
		}
		divided[object] = append(divided[object], request{record: r, place: place})
	}
	return divided, len(places) <= keysTogether
}

func judgeHistory(h history) (conclusion, int) {
	if why := batchFlaw(h.records); why != "" {
		return refused(why), 0
	}
	divided, fits := objects(h)
	if !fits {
		return notChecked("too many keys"), 0
	}
	keys := make([]uint64, 0, len(divided))
	for key := range divided {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	worst := linearizable
	for _, key := range keys {
		v := judge(divided[key])
		v.why = fmt.Sprintf("key %d: %s", key, v.why)
		if v.text == "refused" {
			return v, len(keys)
		}
		if v.text != "linearizable" && worst == linearizable {
			worst = v
		}
	}
	return worst, len(keys)
}

func main() {
	flag.Parse()
	failed := flag.NArg() == 0
	if failed {
		fmt.Fprintln(os.Stderr, "usage: porcupine [-timeout 2m] [-records 20000] FILE...")
	}
	for _, path := range flag.Args() {
		h, err := readHistory(path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			failed = true
			continue
		}
		v, count := judgeHistory(h)
		fmt.Printf("%s\t%s\t%d\t%d\t%s\n", path, v.text, len(h.records), count, v.why)
	}
	if failed {
		os.Exit(2)
	}
}
