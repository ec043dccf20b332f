package io.regatta.node.group;

import io.regatta.core.loop.Loop;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.network.Network;
import io.regatta.protocol.vertx.VertxLoop;
import java.time.Duration;

/**
 * The parts of a process that a member of a group uses.
 *
 * @param loop owns the member
 * @param network the way to the rendezvous
 * @param waits where the member's waits stand
 * @param host where others reach the process
 * @param patience how long the rendezvous may be silent while the member joins
 */
public record MemberContext(Loop loop, Network network, Waits waits, String host, Duration patience) {

  /** Returns those of a node, for a member that belongs to the calling context. */
  public static MemberContext of(Node node) {
    return new MemberContext(VertxLoop.current(node.vertx()), node.network(), node.waits(), node.host(),
        node.config().readyTimeout());
  }
}
