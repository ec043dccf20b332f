package io.regatta.node.testing;

import io.regatta.node.Node;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A Vert.x with a node, on which a test deploys services and waits for them: a field with {@code @RegisterExtension},
 * of the instance and so of one test. What the test leaves is undeployed after it. Used by the test's thread, {@link
 * #get} by any but an event loop.
 */
public final class EmbeddedNode implements AfterEachCallback {

  /** Limit for tests that hang; it measures nothing. */
  public static final int SECONDS = 120;

  private final Vertx vertx = Vertx.vertx();
  private final Node node = Node.embedded(vertx, null, "test");

  @Override
  public void afterEach(ExtensionContext test) throws Exception {
    get(node.close().eventually(vertx::close));
  }

  /** Returns the Vert.x of this test. */
  public Vertx vertx() {
    return vertx;
  }

  /** Returns the node of this test, with an in-process directory. */
  public Node node() {
    return node;
  }

  /** Returns a future's value within {@value #SECONDS} s, or throws its failure as an {@code ExecutionException}. */
  public static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
  }
}
