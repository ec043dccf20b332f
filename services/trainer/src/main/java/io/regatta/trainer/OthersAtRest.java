package io.regatta.trainer;

import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The wait of a trainer for the end of the others' training after the rendezvous is lost. It asks the servers which
 * trainers of the job are active, and how far they are. It ends when all others have left, or when none of them has
 * made a step for {@link #STILL_MILLIS}. Owned by the trainer's event loop.
 */
final class OthersAtRest {

  private static final Logger LOG = LoggerFactory.getLogger(OthersAtRest.class);
  private static final long EVERY_MILLIS = 250;
  private static final long ASK_MILLIS = 2000;
  /**
   * Time without a step after which the wait ends. A dead trainer stays active on the shards if no rendezvous notifies
   * them; a slow one makes a step in this time.
   */
  private static final long STILL_MILLIS = 30_000;

  private final Node node;
  private final ShardFinder.Found found;
  private final String job;
  private final int self;
  private final Promise<Void> rest = Promise.promise();
  private Map<Integer, Long> last = Map.of();
  private long movedAt;

  OthersAtRest(Node node, ShardFinder.Found found, String job, int self) {
    this.node = node;
    this.found = found;
    this.job = job;
    this.self = self;
  }

  /** Waits; called once. Fails if a server does not answer. */
  Future<Void> await() {
    movedAt = node.clock().nanos();
    ask();
    return rest.future();
  }

  private void ask() {
    List<Future<StatusReply>> asked = found.servers().stream().map(this::status).toList();
    Future.all(asked).onFailure(rest::tryFail).onSuccess(all -> look(asked.stream().map(Future::result).toList()));
  }

  private Future<StatusReply> status(Directory.Instance server) {
    ParameterServerControl control = new ParameterServerControl(node.network(), server.host(), server.controlPort());
    return control.status(job).timeout(ASK_MILLIS, TimeUnit.MILLISECONDS).eventually(control::close);
  }

  private void look(List<StatusReply> servers) {
    Map<Integer, Long> steps = new TreeMap<>();
    servers.stream().flatMap(server -> server.getShardsList().stream()).flatMap(shard -> shard.getJobsList().stream())
        .filter(of -> of.getJob().equals(job)).flatMap(of -> of.getTrainersList().stream())
        .filter(trainer -> trainer.getRank() != self && trainer.getState().equals("active"))
        .forEach(trainer -> steps.merge(trainer.getRank(), trainer.getLastStep(), Math::max));
    if (steps.isEmpty()) {
      rest.tryComplete();
      return;
    }
    if (!steps.equals(last)) {
      if (last.isEmpty()) {
        LOG.info("trainer {} of job {} waits until trainers {} have trained, as the servers see it", self, job, steps.keySet());
      }
      last = steps;
      movedAt = node.clock().nanos();
    } else if (node.clock().nanos() - movedAt > TimeUnit.MILLISECONDS.toNanos(STILL_MILLIS)) {
      LOG.warn("trainer {} of job {} waits no longer for trainers {}, which have made no step for {} s", self, job, steps.keySet(),
          TimeUnit.MILLISECONDS.toSeconds(STILL_MILLIS));
      rest.tryComplete();
      return;
    }
    VertxLoop.current(node.vertx()).after(EVERY_MILLIS, this::ask);
  }
}
