package advisor

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/helenus-db/helenus/advisor/correction"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/store"
)

// What is kept of corrections: every version of them in one document, the files of the latest in one each.
const (
	ledgerKind    = "model"
	ledgerID      = "corrections"
	ledgerVersion = 1
	fileKind      = "model-file"
	maxVersions   = 100
	maxFiles      = 10
)

// ledger is every version of the corrections, the oldest first; the last is in force.
type ledger struct {
	Version  int       `json:"version"`
	Versions []Version `json:"versions"`
}

// Version is what people had said about the model from some moment on.
type Version struct {
	Number      int             `json:"version"` // from 1
	At          time.Time       `json:"at"`
	Actor       string          `json:"actor"`
	What        string          `json:"what"` // import, an answer, or going back
	Reason      string          `json:"reason,omitempty"`
	Corrections correction.List `json:"corrections"`
	File        bool            `json:"file"` // the file that was imported is kept
}

// file is a model file as it was imported.
type file struct {
	Number int    `json:"version"`
	Text   []byte `json:"text"` // compressed
}

// MissingError says that there is no such version, or question.
type MissingError struct{ Text string }

func (e *MissingError) Error() string { return e.Text }

// RefusedError says why corrections are not changed as was asked.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// Imported is what importing corrections did, or would do.
type Imported struct {
	Version int  `json:"version"`           // in force afterwards; of a dry run now
	Changed bool `json:"changed"`           // there is a new version, or would be
	DryRun  bool `json:"dry_run,omitempty"` // nothing was done
	infer.Comparison
}

// corrected loads the ledger, once, and returns it.
func (a *Advisor) corrected(ctx context.Context) (ledger, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loadLedger(ctx)
}

// loadLedger is corrected for those who hold a.mu.
func (a *Advisor) loadLedger(ctx context.Context) (ledger, error) {
	if a.known != nil {
		return *a.known, nil
	}
	l, version := ledger{Version: ledgerVersion}, int64(0)
	if a.o.Store != nil {
		documents, err := a.o.Store.List(ctx, ledgerKind)
		for i := range documents {
			if d := &documents[i]; d.ID == ledgerID && err == nil {
				version = d.Version
				err = json.Unmarshal(d.Raw, &l)
			}
		}
		switch {
		case err != nil:
			return l, fmt.Errorf("read the corrections kept in the state directory: %w", err)
		case l.Version != ledgerVersion:
			return l, fmt.Errorf("the corrections kept in the state directory have version %d, this Helenus reads version %d: use the one that wrote them", l.Version, ledgerVersion)
		}
	}
	a.known, a.ledger = &l, version
	return l, nil
}

// current is the version in force; Number is 0 if nothing was ever corrected.
func (l *ledger) current() Version {
	if len(l.Versions) == 0 {
		return Version{Corrections: correction.List{}}
	}
	return l.Versions[len(l.Versions)-1]
}

// Corrections are those in force.
func (a *Advisor) Corrections(ctx context.Context) (correction.List, error) {
	l, err := a.corrected(ctx)
	return l.current().Corrections, err
}

// Versions lists every version of the corrections that is remembered, the latest first.
func (a *Advisor) Versions(ctx context.Context) ([]Version, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(l.Versions)
	slices.Reverse(out)
	if out == nil {
		out = []Version{}
	}
	return out, nil
}

// version finds one; 0 is from before anything was corrected.
func (l *ledger) version(n int) (Version, error) {
	if n == 0 {
		return Version{Corrections: correction.List{}}, nil
	}
	for i := range l.Versions {
		if l.Versions[i].Number == n {
			return l.Versions[i], nil
		}
	}
	return Version{}, &MissingError{fmt.Sprintf("there is no version %d of the corrections: `helenus model versions` lists them", n)}
}

// changed puts a new version in force that was made of another one, base: stored with its line of the audit trail, and used by the next round,
// which begins at once.
func (a *Advisor) changed(ctx context.Context, base int, v *Version, action, target, text string) (Version, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.loadLedger(ctx); err != nil { // another process may have changed it
		return Version{}, err
	}
	before := a.known.current()
	if before.Number != base {
		return Version{}, &RefusedError{fmt.Sprintf("%s has corrected the model meanwhile (version %d, %s): look at that, and try again", before.Actor, before.Number, before.What)}
	}
	v.Number, v.At, v.File = before.Number+1, a.o.Clock().UTC(), text != ""
	next := ledger{Version: ledgerVersion, Versions: append(slices.Clone(a.known.Versions), *v)}
	next.Versions = next.Versions[max(0, len(next.Versions)-maxVersions):]
	for i := range next.Versions { // files are kept in a ring
		next.Versions[i].File = next.Versions[i].File && v.Number-next.Versions[i].Number < maxFiles
	}
	if a.o.Store != nil {
		if text != "" {
			packed, err := pack(text)
			if err == nil {
				err = a.o.Store.Save(ctx, fileKind, strconv.Itoa(v.Number%maxFiles), file{v.Number, packed})
			}
			if err != nil {
				return Version{}, fmt.Errorf("keep the model file in the state directory: %w", err)
			}
		}
		entry := store.Entry{
			Action: action, Target: target, Reason: v.Reason,
			Before: fmt.Sprintf("version %d, %d corrections", before.Number, len(before.Corrections)),
			After:  fmt.Sprintf("version %d, %d corrections", v.Number, len(v.Corrections)),
		}.By(ctx, cmp.Or(v.Actor, store.Self))
		version, err := a.o.Store.Replace(ctx, ledgerKind, ledgerID, a.ledger, next, entry)
		if errors.Is(err, store.ErrConflict) {
			a.known = nil // it is read again
			return Version{}, &RefusedError{"somebody has corrected the model meanwhile, through another process: look at that, and try again"}
		}
		if err != nil {
			return Version{}, fmt.Errorf("keep the corrections in the state directory: %w", err)
		}
		a.ledger = version
	}
	a.known = &next
	a.o.Log.Info("the model was corrected", "version", v.Number, "corrections", len(v.Corrections), "by", v.Actor, "what", v.What, "reason", v.Reason)
	select {
	case a.poke <- struct{}{}:
	default: // a round is due already
	}
	return *v, nil
}

// pack compresses the text of a file.
func pack(text string) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	err = errors.Join(err, z.Close()) // which writes the rest
	return b.Bytes(), err
}

// maxFile bounds what a file may be unpacked to.
const maxFile = 32 << 20

// unpacked reads the file of a version.
func (a *Advisor) unpacked(ctx context.Context, n int) (string, error) {
	missing := &MissingError{fmt.Sprintf("no file of version %d is kept: it was made by an answer or by going back, or %d others came after it", n, maxFiles)}
	if a.o.Store == nil {
		return "", missing
	}
	var f file
	switch err := a.o.Store.Load(ctx, fileKind, strconv.Itoa(n%maxFiles), &f); {
	case errors.Is(err, store.ErrNotFound) || err == nil && f.Number != n:
		return "", missing
	case err != nil:
		return "", fmt.Errorf("read the model file kept in the state directory: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(f.Text))
	if err != nil {
		return "", fmt.Errorf("the model file of version %d that is kept is damaged: %w", n, err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxFile))
	if err != nil {
		return "", fmt.Errorf("the model file of version %d that is kept is damaged: %w", n, err)
	}
	return string(text), nil
}

// compare compares with what is seen now. Where nothing was said yet, the tables alone are looked at.
func (a *Advisor) compare(ctx context.Context, inForce correction.List, text string) (*infer.Comparison, error) {
	tables, snapshot := a.o.Schema(), a.o.Snapshots()
	if tables == nil {
		return nil, ErrNothingSeen
	}
	if snapshot == nil {
		snapshot = &capture.Snapshot{From: a.o.Clock(), To: a.o.Clock()}
	}
	return a.o.Compare(ctx, snapshot, tables, a.o.Statistics(), inForce, text)
}

// Export is the model file of what is inferred now, or, with a version, the file that was imported as it.
func (a *Advisor) Export(ctx context.Context, version int) (string, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return "", err
	}
	if version != 0 {
		if _, err := l.version(version); err != nil {
			return "", err
		}
		return a.unpacked(ctx, version)
	}
	c, err := a.compare(ctx, l.current().Corrections, "")
	if err != nil {
		return "", err
	}
	return c.File, nil
}

// Diff says how what is inferred now differs from a model file; of "": from the latest that was imported, whose version is returned.
func (a *Advisor) Diff(ctx context.Context, text string) (differences []infer.Difference, version int, err error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return nil, 0, err
	}
	if text == "" {
		for i := len(l.Versions) - 1; i >= 0 && version == 0; i-- {
			if l.Versions[i].File {
				version = l.Versions[i].Number
			}
		}
		if version == 0 {
			return nil, 0, &MissingError{"no model file was imported that is still kept: name a file to compare with"}
		}
		if text, err = a.unpacked(ctx, version); err != nil {
			return nil, version, err
		}
	}
	c, err := a.compare(ctx, l.current().Corrections, text)
	if err != nil {
		return nil, version, err
	}
	return append([]infer.Difference{}, c.Since...), version, nil
}

// Import puts the corrections of a model file in force, in place of those before. dry: it says what that would do, and does nothing.
func (a *Advisor) Import(ctx context.Context, text, reason, actor string, dry bool) (*Imported, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return nil, err
	}
	before := l.current()
	if text == "" {
		return nil, &infer.InvalidError{Text: "the model file is empty"}
	}
	c, err := a.compare(ctx, before.Corrections, text)
	if err != nil {
		return nil, err
	}
	out := &Imported{Comparison: *c, Version: before.Number, Changed: !sameList(before.Corrections, c.Corrections), DryRun: dry}
	out.File = "" // whoever imports has it
	if dry || !out.Changed {
		return out, nil
	}
	v, err := a.changed(ctx, before.Number, &Version{Actor: actor, What: "import", Reason: reason, Corrections: c.Corrections}, "model.import", "model", text)
	out.Version = v.Number
	return out, err
}

// sameList tells whether two lists say the same for the same reasons.
func sameList(a, b correction.List) bool {
	return slices.EqualFunc(a, b, func(x, y correction.Correction) bool {
		return x.Says(&y) && x.Because == y.Because && x.Question == y.Question
	})
}

// Reset goes back to the corrections of a version, as a new one; 0: to none.
func (a *Advisor) Reset(ctx context.Context, version int, reason, actor string, dry bool) (*Imported, error) {
	l, err := a.corrected(ctx)
	if err != nil {
		return nil, err
	}
	before := l.current()
	to, err := l.version(version)
	if err != nil {
		return nil, err
	}
	out := &Imported{Version: before.Number, Changed: !sameList(before.Corrections, to.Corrections), DryRun: dry}
	out.Corrections, out.Changes = to.Corrections, infer.Corrections(before.Corrections, to.Corrections)
	if dry || !out.Changed {
		return out, nil
	}
	what := fmt.Sprintf("back to version %d", version)
	v, err := a.changed(ctx, before.Number, &Version{Actor: actor, What: what, Reason: reason, Corrections: to.Corrections}, "model.reset", "model", "")
	out.Version = v.Number
	return out, err
}
