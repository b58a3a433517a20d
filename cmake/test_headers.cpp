// A precompiled header needs a target, and an executable a main.
int main() {}
