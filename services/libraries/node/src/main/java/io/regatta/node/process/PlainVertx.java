package io.regatta.node.process;

import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;

/** The options of every Vertx that Regatta creates, clustered or not. Stateless. */
public final class PlainVertx {

  private PlainVertx() {}

  /**
   * Returns the options: native transport if there is one, and no file cache, whose directory {@code vertx-cache-...}
   * would outlive a process that is killed.
   */
  public static VertxOptions options() {
    return new VertxOptions().setPreferNativeTransport(true).setFileSystemOptions(
        new FileSystemOptions().setClassPathResolvingEnabled(false).setFileCachingEnabled(false));
  }
}
