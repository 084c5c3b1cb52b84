package mpi

import (
	"bytes"
	"testing"

	"slackline/internal/needed"
)

// TestMemoryOfOneHost: only processes of one host open memory that process 0 offers; a host has a name of its own also where all processes
// are those of one machine.
func TestMemoryOfOneHost(t *testing.T) {
	made, offer := offerShared(2)
	needed.That(t, made != nil, "memory that processes share")
	if s := openShared(bytes.Clone(offer), 2); s == nil || !bytes.Equal(s.memory[:secretSize], made.memory[:secretSize]) {
		t.Error("the memory of this host is not opened")
	}
	if s := openShared(append(bytes.Clone(offer), "x"...), 2); s != nil {
		t.Error("the memory of a host with another name is opened")
	}
}
