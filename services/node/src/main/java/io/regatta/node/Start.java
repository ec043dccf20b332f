package io.regatta.node;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/**
 * A verticle that can be given up while it starts. Closing a Vertx fails the deployments that still start; when their
 * own start ends later, Vert.x reports a promise that was completed before, as an unhandled exception. A start that was
 * given up ends for nobody. Any thread.
 */
final class Start implements Deployable {

  private final Deployable verticle;
  private volatile boolean givenUp;
  /** Null: its start has not begun. */
  private volatile Context context;

  Start(Deployable verticle) {
    this.verticle = verticle;
  }

  void giveUp() {
    givenUp = true;
  }

  /** Has the verticle leave, if it can before it has started. Never fails. */
  Future<Void> cancel() {
    Context on = context;
    if (on == null || !(verticle instanceof CancellableStart start)) {
      return Future.succeededFuture();
    }
    Promise<Void> left = Promise.promise();
    on.runOnContext(v -> {
      Future.succeededFuture().compose(w -> start.cancelStart()).onComplete(done -> left.complete());
    });
    return left.future();
  }

  @Override
  public Future<?> deploy(Context context) throws Exception {
    this.context = context;
    Promise<Object> started = Promise.promise();
    verticle.deploy(context).onComplete(end -> {
      if (givenUp) {
        return;
      }
      if (end.succeeded()) {
        started.complete();
      } else {
        started.fail(end.cause());
      }
    });
    return started.future();
  }

  @Override
  public Future<?> undeploy(Context context) throws Exception {
    return verticle.undeploy(context);
  }
}
