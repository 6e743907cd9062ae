package wire

// ErrorNames are names of the protocol's error codes, each at its ErrorPlace; the first stands for codes not listed.
var ErrorNames = [...]string{
	"other", "server", "protocol", "credentials", "unavailable", "overloaded", "bootstrapping", "truncate", "write_timeout",
	"read_timeout", "read_failure", "function_failure", "write_failure", "cdc_write_failure", "cas_write_unknown",
	"syntax", "unauthorized", "invalid", "config", "already_exists", "unprepared",
}

// ErrorPlace is the place of an ERROR message's code in ErrorNames.
func ErrorPlace(code int32) int {
	switch code {
	case 0x0000:
		return 1
	case 0x000A:
		return 2
	case 0x0100:
		return 3
	case 0x1000, 0x1001, 0x1002, 0x1003:
		return 4 + int(code-0x1000)
	case 0x1100:
		return 8
	case 0x1200, 0x1300, 0x1400, 0x1500, 0x1600, 0x1700:
		return 9 + int(code-0x1200)>>8
	case 0x2000:
		return 15
	case 0x2100:
		return 16
	case 0x2200, 0x2300, 0x2400, 0x2500:
		return 17 + int(code-0x2200)>>8
	}
	return 0
}
