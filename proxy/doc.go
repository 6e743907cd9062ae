// Package proxy is the wire: see hooks.go for what it asks of the rest.
package proxy
