// Empty does nothing. No program can take less time.
package main

func main() {}
