// Empty does nothing. No program can run in less time.
package main

func main() {}
