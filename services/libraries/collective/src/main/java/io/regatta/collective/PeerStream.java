package io.regatta.collective;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.rank.CollectiveFrames;
import io.regatta.protocol.rank.CollectiveReceiver;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.tensor.CollectiveElements;
import io.regatta.protocol.tensor.CollectiveFailed;
import io.regatta.protocol.tensor.CollectiveOpen;
import io.regatta.protocol.vertx.LoopFutures;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/**
 * The one stream between this rank and another: how both confirm that they form the same generation, the number of
 * borrowed buffers, and its end. Its messages belong to its {@link Link}. Owned by the rank's loop.
 */
final class PeerStream implements CollectiveReceiver.Listener {
  private static final long ABORT_MILLIS = 250;
  private static final long CLOSE_MILLIS = 1000;

  private final Mesh owner;
  private final Link link;
  private final int peer;
  /** True if this side opens the stream. */
  private final boolean opener;
  private final Promise<Void> closed = Promise.promise();
  private TensorStream stream;
  private CollectiveReceiver receiver;
  /** True once the peer has said that it forms this generation. */
  private boolean open;
  /** Messages whose memory the stream still uses. */
  private int lent;
  private Future<Void> aborted = Future.succeededFuture();
  private boolean paused;
  /** True once the peer has ended its side in order. */
  private boolean peerClosed;
  private boolean over;
  private long lastSeenMillis;

  PeerStream(Mesh owner, Link link, int peer, boolean opener) {
    this.owner = owner;
    this.link = link;
    this.peer = peer;
    this.opener = opener;
  }

  /** Returns true once the peer has said that it forms this generation. */
  boolean isOpen() {
    return open;
  }

  boolean isThere() {
    return stream != null;
  }

  /** Returns true if messages may be sent over it, in both directions. */
  boolean isUsable() {
    return open && !over;
  }

  boolean isLent() {
    return lent > 0;
  }

  boolean peerClosed() {
    return peerClosed;
  }

  /** Returns the wall clock of the last message, 0 if none. */
  long lastSeenMillis() {
    return lastSeenMillis;
  }

  /** Asks the peer, over a stream that this side has opened, whether it forms this generation as well. */
  void ask(TensorStream to) {
    if (over) {
      to.fail(owner.broken());
      return;
    }
    receiver = new CollectiveReceiver(this, owner.workspace());
    take(to);
    introduce();
    stream.receiver(receiver);
  }

  /** Answers that question on a stream that the peer has opened; it is paused, and its receiver is set already. */
  void answer(TensorStream to, CollectiveReceiver from, CollectiveOpen asked) {
    receiver = from;
    receiver.listener(this);
    paused = true;
    take(to);
    introduce();
    begun(asked);
  }

  private void take(TensorStream to) {
    stream = to.flushEach();
    stream.drainHandler(v -> link.pump());
    stream.exceptionHandler(e -> owner.fail(lost(e)));
    stream.endHandler(v -> peerEnded());
  }

  private void introduce() {
    Membership ranks = owner.ranks();
    stream.send(CollectiveFrames.open(ranks.group(), ranks.generation(), ranks.rank(), ranks.worldSize(), owner.process(),
        Math.max(0, peer - ranks.worldSize()), peer < ranks.worldSize() ? 0 : ranks.aggregators().size())).onFailure(this::broken);
  }

  private void begun(CollectiveOpen by) {
    open = true;
    owner.opened(peer, by.getProcess());
    read(false);
    link.pump();
  }

  @Override
  public void failed(CollectiveFailed why) {
    owner.fail(CollectiveFrames.failure(why));
  }

  @Override
  public void opened(CollectiveOpen message) {
    Membership ranks = owner.ranks();
    if (open || !message.getGroup().equals(ranks.group()) || message.getGeneration() != ranks.generation()
        || message.getRank() != peer || message.getWorldSize() != ranks.worldSize()) {
      throw new InvalidInput(owner.where() + ": from " + owner.ranks().name(peer) + (open ? ", whose stream is open already," : "") + " came "
          + "COLLECTIVE_OPEN of rank " + message.getRank() + " of " + message.getWorldSize() + ", generation "
          + message.getGeneration() + " of group " + message.getGroup());
    }
    begun(message);
  }

  @Override
  public CollectiveReceiver.Target begin(CollectiveElements elements) {
    return link.begin(elements);
  }

  @Override
  public void taken() {
    lastSeenMillis = owner.loop().clock().epochMillis();
    link.taken();
  }

  /**
   * Fails the generation rather than throw, as long as it is not broken yet: a stream whose opener refuses it breaks
   * without a reason for the peer.
   */
  @Override
  public void refused(RegattaException why) {
    if (owner.broken() != null) {
      throw why;
    }
    owner.fail(why);
  }

  /** Reads on or holds back; unread messages wait at the peer. */
  void read(boolean on) {
    if (paused == on) {
      paused = !on;
      if (on) {
        stream.resume();
      } else {
        stream.pause();
      }
    }
  }

  boolean isFull() {
    return stream.writeQueueFull();
  }

  /** Sends a message; completes when the stream has released its memory. A failure is handled here. */
  Future<Void> send(Outgoing out) {
    lent(1);
    return stream.send(out.frame()).onComplete(done -> {
      out.release();
      lent(-1);
    }).onFailure(this::broken);
  }

  private void lent(int more) {
    lent += more;
    owner.lent().add(more);
  }

  /**
   * Handles a failure to send. A message of the peer that was held back explains more about the cause, so it is read
   * first.
   */
  private void broken(Throwable e) {
    if (!over) {
      receiver.dropElements();
      read(true);
      owner.fail(lost(ErrorMapping.regatta(e)));
    }
  }

  /** Returns the error to report. The text of a peer's error is kept, so that all ranks name the same cause. */
  private RegattaException lost(RegattaException e) {
    if (!(e instanceof PeerLost) || owner.names(e)) {
      return e;
    }
    owner.unreachable(peer);
    return new PeerLost(owner.where() + ": " + owner.ranks().name(peer) + " was lost: " + e.getMessage()
        + "; join again, with those who are left", e);
  }

  private void peerEnded() {
    peerClosed = true;
    closed.tryComplete();
    if (!opener) {
      stream.end();
    }
    if (!open || !link.isIdle()) {
      owner.fail(closedTooEarly());
    } else {
      owner.peerEnded();
    }
  }

  /** Returns the error of a call that needs a peer which has ended its side. */
  PeerLost closedTooEarly() {
    return new PeerLost(owner.where() + ": " + owner.ranks().name(peer) + " has closed its side while a call needs it; all ranks must "
        + "make the same calls");
  }

  /** Ends the stream at once, and sends the peer the reason, which it may not read. */
  void abort(RegattaException why) {
    boolean before = over;
    over = true;
    if (before || stream == null) {
      return;
    }
    receiver.drop();
    Future<Void> told = opener && !peerClosed // a client's reset has no text
        ? LoopFutures.within(owner.loop(), ABORT_MILLIS, stream.send(CollectiveFrames.failed(why))) : Future.succeededFuture();
    aborted = LoopFutures.within(owner.loop(), CLOSE_MILLIS, told.transform(done -> stream.fail(why)));
  }

  /** Completes when the peer has received the reason, or cannot. */
  Future<Void> aborted() {
    return aborted;
  }

  /** Cuts the stream off if it holds messages: the peer reads no more, and borrowed buffers are the callers' again. */
  void severIfLent() {
    if (lent > 0) {
      stream.sever();
    }
  }

  /** Ends the stream in order; waits, for a limited time, until the peer has read everything. */
  Future<Void> close() {
    over = true;
    Future<Void> ended = stream.end();
    return LoopFutures.within(owner.loop(), CLOSE_MILLIS, opener && !peerClosed ? closed.future() : ended);
  }
}
