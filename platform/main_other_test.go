//go:build !linux

package platform_test

import "testing"

func beforeTests(*testing.M) {}
