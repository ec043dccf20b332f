package io.regatta.collective;

import io.regatta.core.collective.Step;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.CollectiveFrames;
import io.regatta.protocol.CollectiveReceiver;
import io.regatta.protocol.Outgoing;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.tensor.Kind;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * What one rank has to send to another and to take from it, in the order of calls and of their steps, over the one stream
 * between the two. A message is sent when the step that it waits for is done and the stream has room; the stream is read
 * when the next message from the peer may be taken, and held back otherwise: so nothing is kept here that nobody has asked
 * for. Owned by the rank's loop.
 */
final class Link implements CollectiveReceiver.Listener {
  private static final long ABORT_MILLIS = 250;
  private static final long CLOSE_MILLIS = 1000;

  /** A step of a call. */
  private record Pending(CollectiveRun run, int index) {
    Step step() {
      return run.step(index);
    }

    boolean isReady() {
      return run.isReady(index);
    }
  }

  private final Mesh owner;
  private final int peer;
  /** This side has opened the stream. */
  private final boolean opener;
  private final ArrayDeque<Pending> sends = new ArrayDeque<>();
  private final ArrayDeque<Pending> receives = new ArrayDeque<>();
  private final Promise<Void> closed = Promise.promise();
  private TensorStream stream;
  private CollectiveReceiver receiver;
  /** The peer has said that it forms this generation. */
  private boolean open;
  /** Messages that the stream has not done with. */
  private int lent;
  private Future<Void> aborted = Future.succeededFuture();
  private boolean paused;
  private boolean pumping;
  private boolean again;
  /** The peer has ended its side, rightly. */
  private boolean peerClosed;
  private boolean over;
  private long lastSeenMillis;

  Link(Mesh owner, int peer, boolean opener) {
    this.owner = owner;
    this.peer = peer;
    this.opener = opener;
  }

  int peer() {
    return peer;
  }

  boolean isOpen() {
    return open;
  }

  boolean hasStream() {
    return stream != null;
  }

  /** Wall clock of the last message, 0 if none. */
  long lastSeenMillis() {
    return lastSeenMillis;
  }

  /** This side has opened the stream: asks the peer whether it forms this generation as well. */
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

  /** The peer has opened the stream and asks that; it is paused, and its receiver is set already. */
  void answer(TensorStream to, CollectiveReceiver from, TensorMessage asked) {
    receiver = from;
    receiver.listener(this);
    paused = true;
    take(to);
    introduce();
    opened(asked);
  }

  private void take(TensorStream to) {
    stream = to;
    stream.drainHandler(v -> pump());
    stream.exceptionHandler(e -> owner.fail(lost(e)));
    stream.endHandler(v -> peerEnded());
  }

  private void introduce() {
    Membership ranks = owner.ranks();
    stream.send(CollectiveFrames.open(ranks.group(), ranks.generation(), ranks.rank(), ranks.worldSize(), owner.process()))
        .onFailure(this::broken);
  }

  private void opened(TensorMessage by) {
    open = true;
    owner.opened(peer, by.getIncarnation());
    holdBack();
    pump();
  }

  /** Nothing can be sent; what the peer has told before, and was held back, says more about why. */
  private void broken(Throwable e) {
    if (!over) {
      receiver.dropElements();
      paused = false;
      stream.resume();
      owner.fail(lost(ErrorMapping.regatta(e)));
    }
  }

  /** What the text of the peer's error says is kept, so that all ranks name the same one. */
  private RegattaException lost(RegattaException e) {
    return e instanceof PeerLost && !owner.names(e) ? new PeerLost(owner.where() + ": rank " + peer + " was lost: "
        + e.getMessage() + "; join again, with those who are left", e) : e;
  }

  private void peerEnded() {
    peerClosed = true;
    closed.tryComplete();
    if (!opener) {
      stream.end();
    }
    if (!open || !receives.isEmpty() || !sends.isEmpty()) {
      owner.fail(closed());
    }
  }

  private PeerLost closed() {
    return new PeerLost(owner.where() + ": rank " + peer + " has closed its side while a call needs it; all ranks must "
        + "make the same calls");
  }

  void add(CollectiveRun run, int index) {
    if (peerClosed) {
      owner.fail(closed());
      return;
    }
    (run.step(index).sends() ? sends : receives).add(new Pending(run, index));
  }

  /** Whether a call that needs this peer waits for it now: for what it sends, or for it to take what is sent. */
  boolean waitsFor(CollectiveRun run) {
    return lent > 0 || isNext(run, receives.peek()) || isNext(run, sends.peek());
  }

  private static boolean isNext(CollectiveRun run, Pending next) {
    return next != null && next.run == run && next.isReady();
  }

  /** Sends and reads what can be. */
  void pump() {
    if (!open || over) {
      return;
    }
    if (pumping) {
      again = true;
      return;
    }
    pumping = true;
    try {
      do {
        again = false;
        for (Pending next = sends.peek(); next != null && next.isReady() && !stream.writeQueueFull(); next = sends.peek()) {
          sends.poll();
          send(next);
          if (over) {
            return;
          }
        }
        holdBack();
        if (paused && mayRead()) {
          paused = false;
          stream.resume();
        }
      } while (again && !over);
    } finally {
      pumping = false;
    }
  }

  private boolean mayRead() {
    Pending next = receives.peek();
    return next != null && next.isReady();
  }

  /** Reads nothing that may not be taken yet. */
  private void holdBack() {
    if (!paused && !mayRead()) {
      paused = true;
      stream.pause();
    }
  }

  private void send(Pending pending) {
    Outgoing out;
    try {
      pending.run.begin(pending.index);
      out = CollectiveFrames.data(pending.run.call, pending.run.tensor, pending.step(), owner.workspace());
    } catch (RuntimeException | Error e) { // no memory for a frame
      owner.fail(ErrorMapping.regatta(e));
      return;
    }
    lent(1);
    Future<Void> sent = stream.send(out.frame());
    boolean ours = out.memory() != null || !out.frame().payload().hasRemaining();
    sent.onComplete(done -> {
      out.release();
      lent(-1);
      if (done.failed()) {
        broken(done.cause());
      } else if (!ours) {
        owner.done(pending.run, pending.index);
      }
    });
    if (ours) {
      owner.done(pending.run, pending.index);
    }
  }

  private void lent(int more) {
    lent += more;
    owner.lent(more);
  }

  @Override
  public void told(TensorMessage message) {
    if (message.getKind() == Kind.COLLECTIVE_FAILED) {
      owner.fail(CollectiveFrames.failure(message));
      return;
    }
    Membership ranks = owner.ranks();
    if (open || !message.getJob().equals(ranks.group()) || message.getGeneration() != ranks.generation()
        || message.getRank() != peer || message.getRowCount() != ranks.worldSize()) {
      throw new InvalidInput(owner.where() + ": from rank " + peer + (open ? ", whose stream is open already," : "") + " came "
          + "COLLECTIVE_OPEN of rank " + message.getRank() + " of " + message.getRowCount() + ", generation "
          + message.getGeneration() + " of group " + message.getJob());
    }
    opened(message);
  }

  @Override
  public CollectiveReceiver.Target begin(TensorMessage header) {
    Pending next = receives.peek();
    if (next == null || !open) {
      refused(new InvalidInput(owner.where() + ": rank " + peer + " sends " + CollectiveFrames.words(header.getCollective())
          + ", which rank " + owner.rank() + " takes no part in"));
      return null;
    }
    if (!header.getCollective().equals(next.run.call)) {
      refused(new InvalidInput(owner.where() + ": rank " + owner.rank() + " has made "
          + CollectiveFrames.words(next.run.call) + ", but rank " + peer + " "
          + CollectiveFrames.words(header.getCollective()) + CollectiveFrames.difference(next.run.call, header.getCollective())));
      return null;
    }
    next.run.begin(next.index);
    return new CollectiveReceiver.Target(next.run.tensor, next.step(), next.run.op);
  }

  /** Not thrown, as long as there is another way: a stream whose opener refuses it breaks without a word to the peer. */
  @Override
  public void refused(RegattaException why) {
    if (owner.broken() != null) {
      throw why;
    }
    owner.fail(why);
  }

  @Override
  public void taken() {
    lastSeenMillis = System.currentTimeMillis();
    Pending taken = receives.poll();
    owner.done(taken.run, taken.index);
    if (!over) {
      holdBack(); // at once, also from within a pump: the stream reads on when this returns
      pump();
    }
  }

  /** Gives the stream up at once, and tells the peer why, as far as it reads that. */
  void abort(RegattaException why) {
    if (over) {
      return;
    }
    over = true;
    sends.clear();
    receives.clear();
    if (stream == null) {
      return;
    }
    receiver.drop();
    Future<Void> told = opener && !peerClosed // a client's reset has no text
        ? stream.send(CollectiveFrames.failed(why)).timeout(ABORT_MILLIS, TimeUnit.MILLISECONDS) : Future.succeededFuture();
    aborted = told.transform(done -> stream.fail(why)).timeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Completes when the peer has been told why, or cannot be. */
  Future<Void> aborted() {
    return aborted;
  }

  /** The peer takes nothing more: what is lent to the stream is the callers' again. */
  void severIfLent() {
    if (lent > 0) {
      stream.sever();
    }
  }

  /** Ends the stream rightly; waits, not for long, until the peer has read all. */
  Future<Void> close() {
    over = true;
    Future<Void> ended = stream.end();
    return (opener && !peerClosed ? closed.future() : ended).timeout(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
  }
}
