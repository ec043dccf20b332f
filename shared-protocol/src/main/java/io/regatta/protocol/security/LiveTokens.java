package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tokens of a process as their file has them now. Thread-safe; only {@link #reload} blocks. */
final class LiveTokens {
  private static final Logger LOG = LoggerFactory.getLogger(LiveTokens.class);

  private final Supplier<Tokens> file;
  private final LongSupplier wallMillis;
  private volatile Tokens now;
  /** The fault of the file at the last look. Guarded by this. */
  private String trouble;
  private boolean complained;

  /** @param file reads the file again; null: there is none */
  LiveTokens(Tokens now, Supplier<Tokens> file, LongSupplier wallMillis) {
    this.now = now;
    this.file = file;
    this.wallMillis = wallMillis;
  }

  /** Returns true if there is no token, which does not change. */
  boolean isNone() {
    return now.isNone();
  }

  Tokens now() {
    return now;
  }

  Token shown() {
    return now.shown(wallMillis.getAsLong());
  }

  boolean isExpired(Tokens.Entry entry) {
    return entry.isExpired(wallMillis.getAsLong());
  }

  /**
   * Reads the file again. One that cannot be read is named at WARN if it still cannot at the next look, and the tokens
   * stay: it may be half written.
   */
  synchronized void reload() {
    if (file == null) {
      return;
    }
    try {
      Tokens read = file.get();
      trouble = null;
      complained = false;
      if (!read.equals(now) && !read.isNone()) {
        now = read;
        LOG.info("node.token_file has changed: this process takes {}", read);
      }
    } catch (InvalidInput e) {
      if (e.getMessage().equals(trouble) && !complained) {
        complained = true;
        LOG.warn("{}; what was read before is used on", e.getMessage());
      }
      trouble = e.getMessage();
    }
  }
}
