package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// value reads one field from text; it is a pflag.Value, and the environment and the file use it too.
type value struct{ v reflect.Value }

// Set reads text into the field.
func (x *value) Set(text string) error {
	switch p := x.v.Addr().Interface().(type) {
	case *string:
		*p = text
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		*p = b
	case *int:
		n, err := parseCount(text)
		if err != nil {
			return err
		}
		*p = n
	case *Size:
		return p.Set(text)
	case *time.Duration:
		d, err := parseDuration(text)
		if err != nil {
			return err
		}
		*p = d
	case *[]string:
		list := []string{}
		for one := range strings.SplitSeq(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, one)
			}
		}
		*p = list
	default:
		return fmt.Errorf("settings of type %s can not be read", x.v.Type())
	}
	return nil
}

// String is the field as Set would read it.
func (x *value) String() string {
	if !x.v.IsValid() {
		return "" // pflag asks a zero value
	}
	if list, ok := x.v.Interface().([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(x.v.Interface())
}

// Type is the word that help texts use.
func (x *value) Type() string {
	switch x.v.Interface().(type) {
	case []string:
		return "list"
	case time.Duration:
		return "duration"
	case Size:
		return "size"
	}
	return x.v.Kind().String()
}
