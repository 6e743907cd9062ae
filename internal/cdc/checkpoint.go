package cdc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// checkpoint is what was told, by segment.
type checkpoint struct {
	path     string
	Segments map[string]progress `json:"segments"`
}

// progress is how far one was read.
type progress struct {
	Next  int64 `json:"next"`           // where to go on
	Index int64 `json:"index"`          // what its index said then
	Over  bool  `json:"over,omitempty"` // it was completed, and all of it is told
}

// loadCheckpoint reads a checkpoint; there is none before the first segment.
func loadCheckpoint(path string) (*checkpoint, error) {
	c := &checkpoint{path: path, Segments: map[string]progress{}}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint (remove %s to tell of all segments that are there anew): %w", path, err)
	}
	if c.Segments == nil {
		c.Segments = map[string]progress{}
	}
	return c, nil
}

// put stores how far a segment was read, whole or not at all.
func (c *checkpoint) put(name string, p progress) error {
	c.Segments[name] = p
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	next := c.path + ".next"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	if err := os.Rename(next, c.path); err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	return nil
}

// keep forgets segments that are gone.
func (c *checkpoint) keep(list []segment) {
	there := make(map[string]bool, len(list))
	for _, s := range list {
		there[s.name] = true
	}
	for name := range c.Segments {
		if !there[name] {
			delete(c.Segments, name)
		}
	}
}
