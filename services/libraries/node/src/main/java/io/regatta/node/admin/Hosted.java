package io.regatta.node.admin;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The services that this process hosts, by their own account: whether each one serves yet, and whether its event loop
 * answers. {@code /ready} shows it, and {@code /health} a part of it. Thread-safe: services start and stop on their own
 * loops, so the set is guarded by a lock that is held only for adding, removing and copying.
 */
public final class Hosted {

  private final Object lock = new Object();
  private final Set<Service> services = new LinkedHashSet<>();

  Hosted() {}

  /** One service from its start to its stop. Any thread. */
  public final class Service {
    private final String name;
    /** Null: it was started outside of any context and has no loop of its own. */
    private final Context context = Vertx.currentContext();
    /** The reason for which it does not serve; empty: it serves. */
    private volatile String lacks = "is starting";
    private volatile boolean failed;

    private Service(String name) {
      this.name = name;
    }

    /** Notes that it serves from now on. */
    public void serves() {
      lacks = "";
    }

    /** Notes that it does not serve, or not yet, because this is missing. */
    public void lacks(String what) {
      lacks = what;
    }

    /**
     * Notes that it could not be started and must not be waited for; shown until a service of this name is started
     * again.
     */
    public void failed(Throwable why) {
      failed = true;
      lacks = String.valueOf(why.getMessage());
    }

    /** Returns true while it serves. Any thread. */
    public boolean isServing() {
      return lacks.isEmpty();
    }

    /** Notes that it is being stopped: this process does not host it any more. A failed service stays as it is. */
    public void stopped() {
      if (!failed) {
        lacks = "is being stopped";
      }
      synchronized (lock) {
        if (!failed) {
          services.remove(this);
        }
      }
    }

    private Check ready() {
      return new Check(name, lacks.isEmpty(), lacks);
    }

    private Future<Check> answers(long limitMillis) {
      String loop = "event loop of " + name;
      Promise<Check> answer = Promise.promise();
      try {
        context.runOnContext(v -> answer.complete(Check.up(loop)));
      } catch (RejectedExecutionException e) {
        answer.complete(new Check(loop, false, "is closed"));
      }
      return answer.future().timeout(limitMillis, TimeUnit.MILLISECONDS).otherwise(
          new Check(loop, false, "does not answer within " + limitMillis + " ms"));
    }
  }

  /**
   * Adds a service that is starting. Any thread.
   *
   * @param name unique in this process, e.g. {@code parameter-server 0}
   */
  public Service starting(String name) {
    Service service = new Service(name);
    synchronized (lock) {
      services.removeIf(s -> s.failed && s.name.equals(name));
      services.add(service);
    }
    return service;
  }

  private List<Service> all() {
    synchronized (lock) {
      return List.copyOf(services);
    }
  }

  /** Returns whether each service serves. A process that hosts nothing is not ready. */
  List<Check> ready() {
    List<Service> all = all();
    return all.isEmpty() ? List.of(new Check("services", false, "none has been started"))
        : all.stream().map(Service::ready).toList();
  }

  /** Returns whether each service's event loop answers within the limit, ms. Never fails. */
  Future<List<Check>> loops(long limitMillis) {
    List<Future<Check>> answers = new ArrayList<>();
    all().stream().filter(s -> s.context != null).forEach(s -> answers.add(s.answers(limitMillis)));
    return Future.join(answers).map(done -> answers.stream().map(Future::result).toList());
  }
}
