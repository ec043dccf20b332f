package io.regatta.node;

import io.regatta.core.error.RegattaException.Cancelled;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/**
 * A verticle that can be given up while it starts. Closing a Vertx fails the deployments that still start, and may do so when the
 * loops that are to hear of it have ended; when their own start ends later, Vert.x reports a promise that was completed before. Both
 * are unhandled exceptions. A start that was given up fails before, and its end is nobody's. Any thread.
 */
final class Start implements Deployable {

  private final Deployable verticle;
  private final Promise<Object> started = Promise.promise();
  private final Promise<Void> ended = Promise.promise();
  /** Null: its start has not begun. */
  private volatile Context context;

  Start(Deployable verticle) {
    this.verticle = verticle;
  }

  /** Fails the deployment; completes when all have heard of that. */
  Future<Void> giveUp() {
    started.tryFail(new Cancelled("given up while it started: the node has been closed"));
    return ended.future();
  }

  /** To be called when all who have to hear of it know how the deployment has ended. */
  void ended() {
    ended.complete();
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
    if (started.future().isComplete()) { // given up before its loop has come to it
      return started.future();
    }
    verticle.deploy(context).onComplete(end -> {
      if (end.succeeded()) {
        started.tryComplete();
      } else {
        started.tryFail(end.cause());
      }
    });
    return started.future();
  }

  @Override
  public Future<?> undeploy(Context context) throws Exception {
    return verticle.undeploy(context);
  }
}
