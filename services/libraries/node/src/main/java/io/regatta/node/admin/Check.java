package io.regatta.node.admin;

/**
 * One line of {@code /health} or {@code /ready}.
 *
 * @param name of the component that was checked
 * @param up whether it is as it should be
 * @param cause of a failed check; else empty
 */
record Check(String name, boolean up, String cause) {

  static Check up(String name) {
    return new Check(name, true, "");
  }
}
