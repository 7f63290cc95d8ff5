// Empty does nothing: the floor of every program.
package main

func main() {}
