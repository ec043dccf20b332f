package io.regatta.node.admin;

/**
 * One line of {@code /health} or {@code /ready}.
 *
 * @param name what was looked at
 * @param up whether it is as it should be
 * @param cause if not, why; else empty
 */
record Check(String name, boolean up, String cause) {

  static Check up(String name) {
    return new Check(name, true, "");
  }
}
