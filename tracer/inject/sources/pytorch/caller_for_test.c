/* A library that calls a function of its own through the slot that the dynamic linker fills. */
int caller_inner(void);
int caller_outer(void);

int caller_inner(void) {
  return 42;
}

int caller_outer(void) {
  return caller_inner();
}
