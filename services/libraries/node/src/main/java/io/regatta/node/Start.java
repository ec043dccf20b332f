package io.regatta.node;

import io.regatta.core.error.RegattaException.Cancelled;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/**
 * A deployment that can be cancelled while its verticle starts. Closing a Vertx fails deployments that are still
 * starting, possibly after their loops have ended. If such a start then ends itself, Vert.x reports a promise that was
 * completed before. Both are unhandled exceptions. A cancelled start fails before the close, and its later end is
 * ignored. Any thread.
 */
final class Start implements Deployable {

  private final Deployable verticle;
  private final Promise<Object> started = Promise.promise();
  private final Promise<Void> ended = Promise.promise();
  /** Null: the verticle's start has not begun. */
  private volatile Context context;

  Start(Deployable verticle) {
    this.verticle = verticle;
  }

  /** Fails the deployment; completes when all listeners have been notified. */
  Future<Void> giveUp() {
    started.tryFail(new Cancelled("given up while it started: the node has been closed"));
    return ended.future();
  }

  /** Notes that all listeners know how the deployment has ended. */
  void ended() {
    ended.complete();
  }

  /** Asks the verticle to give its start up, if it supports that. Never fails. */
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
    if (started.future().isComplete()) { // cancelled before its loop has run it
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
