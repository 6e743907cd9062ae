// Package access says who may do what at the admin port: roles, tokens of persons, sessions of browsers, names that a trusted proxy vouches
// for, and which requests are not looked at at all because a foreign page may have made them.
//
// A token is 256 random bits; only its SHA-256 is kept. A slow hash (bcrypt, argon2) makes guessing dear where there is something to guess:
// passwords. Nobody guesses 256 random bits, so it would only make each request dear.
package access
