package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes what the programs are made of: the modules that Go noted in them, and the shared libraries that they are bound to.
func (r *release) bill() error {
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{
		Timestamp: r.at.Format(time.RFC3339),
		Component: &cyclonedx.Component{BOMRef: "helenus", Type: cyclonedx.ComponentTypeApplication, Name: "helenus", Version: r.version, Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}},
	}
	components, dependencies := map[string]cyclonedx.Component{}, []cyclonedx.Dependency{}
	for _, name := range []string{"helenus", "helenus-solver"} {
		one, needs, err := r.parts(name, components)
		if err != nil {
			return err
		}
		components[one.BOMRef] = *one
		dependencies = append(dependencies, cyclonedx.Dependency{Ref: one.BOMRef, Dependencies: &needs})
	}
	var list []cyclonedx.Component
	for _, c := range components {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b cyclonedx.Component) int { return bytes.Compare([]byte(a.BOMRef), []byte(b.BOMRef)) })
	b.Components, b.Dependencies = &list, &dependencies
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(b); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("helenus-%s.cdx.json", r.version), out.Bytes())
}

// parts adds what a program is made of to the components, and returns the program as one and the references of its parts.
func (r *release) parts(name string, components map[string]cyclonedx.Component) (*cyclonedx.Component, []string, error) {
	file := r.program(name)
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	sum := sha256.Sum256(content)
	one := &cyclonedx.Component{BOMRef: "program:" + name, Type: cyclonedx.ComponentTypeApplication, Name: name, Version: r.version,
		Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}}
	var needs []string
	add := func(c cyclonedx.Component) {
		components[c.BOMRef] = c
		needs = append(needs, c.BOMRef)
	}
	add(cyclonedx.Component{BOMRef: "pkg:golang/std@" + info.GoVersion[2:], PackageURL: "pkg:golang/std@" + info.GoVersion[2:], Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion[2:]})
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		add(cyclonedx.Component{BOMRef: url, PackageURL: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version})
	}
	binary, err := elf.Open(file)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	defer func() { _ = binary.Close() }()
	libraries, err := binary.ImportedLibraries()
	if err != nil {
		return nil, nil, err
	}
	for _, l := range libraries {
		add(cyclonedx.Component{BOMRef: "library:" + l, Type: cyclonedx.ComponentTypeLibrary, Name: l, Description: "shared library of the system, not part of what is given away"})
	}
	return one, needs, nil
}
