package io.regatta.node.process;

import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;

/** How every Vertx of Regatta's own is made, clustered or not. Stateless. */
public final class PlainVertx {

  private PlainVertx() {}

  /**
   * Native transport where there is one, and no file cache: its directory {@code vertx-cache-...} would outlive a
   * process that is killed.
   */
  public static VertxOptions options() {
    return new VertxOptions().setPreferNativeTransport(true).setFileSystemOptions(
        new FileSystemOptions().setClassPathResolvingEnabled(false).setFileCachingEnabled(false));
  }
}
