package solve

// Exact tells whether this build can prove an optimum: whether it was linked with CBC and CLP, Debian's coinor-libcbc-dev
// and coinor-libclp-dev.
func Exact() bool { return exactEngine }
