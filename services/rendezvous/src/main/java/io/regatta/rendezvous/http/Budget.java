package io.regatta.rendezvous.http;

/** The limits of one key-value server, and its use of them. Owned by its {@link KeyValues}. */
final class Budget {
  /** Statuses of refusals: the value is too large; too much is arriving now; the store is full. */
  static final int TOO_LARGE = 413;
  static final int BUSY = 503;
  static final int FULL = 507;

  private final HttpStoreConfig config;
  private int keys;
  private long bytes;

  Budget(HttpStoreConfig config) {
    this.config = config;
  }

  /**
   * Takes room for a key.
   *
   * @param more bytes more than before; less than 0 if fewer
   * @return null, or the refusal
   */
  Answer take(int newKeys, int valueBytes, long more) {
    if (valueBytes > config.valueBytes()) {
      return Answer.refusal(TOO_LARGE, "the value has " + valueBytes + " bytes, more than rendezvous.http.value_bytes "
          + config.valueBytes());
    }
    if (keys + newKeys > config.keys()) {
      return Answer.refusal(FULL, "there are " + keys + " keys, the limit (rendezvous.http.keys)");
    }
    if (bytes + more > config.storeBytes()) {
      return Answer.refusal(FULL, "values would have " + (bytes + more) + " bytes, more than "
          + "rendezvous.http.store_bytes " + config.storeBytes());
    }
    keys += newKeys;
    bytes += more;
    return null;
  }

  void giveBack(int oldKeys, long oldBytes) {
    keys -= oldKeys;
    bytes -= oldBytes;
  }
}
