package io.regatta.node.settings;

/**
 * A text that must not be seen: it is shown nowhere, and is refused from a command line, which everybody on the machine
 * can read. Immutable.
 */
public final class Secret {
  public static final Secret NONE = new Secret("");
  /** Stands where a secret would be shown. */
  static final String MASK = "***";

  private final String text;

  public Secret(String text) {
    this.text = text;
  }

  public boolean isBlank() {
    return text.isBlank();
  }

  /** Returns the secret itself; it must not be shown. */
  public String text() {
    return text;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret secret && text.equals(secret.text);
  }

  @Override
  public int hashCode() {
    return 0; // it reveals nothing
  }

  @Override
  public String toString() {
    return isBlank() ? "" : MASK;
  }
}
