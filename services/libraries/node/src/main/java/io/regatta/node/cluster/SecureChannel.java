package io.regatta.node.cluster;

import com.hazelcast.internal.networking.Channel;
import com.hazelcast.internal.networking.HandlerStatus;
import com.hazelcast.internal.networking.InboundHandler;
import com.hazelcast.internal.networking.OutboundHandler;
import com.hazelcast.internal.server.ServerConnection;
import io.regatta.protocol.security.PeerSecurity;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/**
 * One connection of Hazelcast's port, between the network and Hazelcast's own handlers. First comes TLS's handshake,
 * then the {@link MemberProof} of the token, then Hazelcast's protocol, encrypted if there is TLS. Hazelcast's handlers
 * get no byte before that. No thread is blocked: received bytes are processed as far as possible, and TLS's long
 * computations run on the thread of {@link MemberConnections}.
 *
 * <p>A connection is admitted when the bytes arrive in it with which Hazelcast's members begin. Until then its time is
 * limited. A connection that is refused gets TLS's alert or the proof's answer, and then the end of the stream. It is
 * closed when the other side closes it, or the time is up.
 *
 * <p>Hazelcast runs the two pipelines of a connection on different threads, therefore the lock.
 */
final class SecureChannel {

  /** Name of the members' protocol in TLS (ALPN), so that no other port can be taken for one of theirs. */
  static final String APPLICATION = "regatta-member";
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final byte HANDSHAKE_RECORD = 22;
  private static final byte ALERT_RECORD = 21;
  private static final int PLAIN_BYTES = 16 << 10;

  private final MemberConnections connections;
  private final PeerSecurity security;
  private final Channel channel;
  /** Null: no TLS. */
  private final SSLEngine engine;
  /** Decrypted bytes that have not been taken yet, in write mode; null without TLS. */
  private final ByteBuffer decrypted;
  /** Size of the buffers on the network's side: TLS needs room for one of its records. */
  private final int networkBytes;

  /** Null: the proof has not begun, or is done, or there is no token. Guarded by this, as the fields below. */
  private MemberProof proof;
  /** Bytes that this connection itself has to send. */
  private ByteBuffer reply = NOTHING;
  /** True once Hazelcast's bytes may pass. */
  private boolean open;
  private boolean begun;
  private boolean admitted;
  private boolean refused;
  /** True once the other side has ended TLS; bytes received before are still taken. */
  private boolean closed;
  /** True once the end of the stream has been sent. */
  private boolean ended;
  private boolean computing;
  /**
   * True once it is about to be closed: nothing is computed for it any more, since others wait for the thread that
   * does.
   */
  private volatile boolean abandoned;

  /**
   * Creates the state of a new connection that has not been used.
   *
   * @param peer host and port of the other side; of one that has connected, its address
   */
  SecureChannel(MemberConnections connections, PeerSecurity security, Channel channel, InetSocketAddress peer) {
    this.connections = connections;
    this.security = security;
    this.channel = channel;
    this.engine = security.hasTls()
        ? security.engine(channel.isClientMode(), peer.getHostString(), peer.getPort(), APPLICATION) : null;
    if (engine == null) {
      this.decrypted = null;
      this.networkBytes = PLAIN_BYTES;
      begin(new byte[0]);
    } else {
      try {
        engine.beginHandshake();
      } catch (SSLException e) {
        throw new IllegalStateException("TLS does not begin: " + e.getMessage(), e);
      }
      this.networkBytes = engine.getSession().getPacketBufferSize();
      this.decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize() + MemberProof.LONGEST_PART);
    }
  }

  InboundHandler<ByteBuffer, ByteBuffer> inbound() {
    return new Inbound();
  }

  OutboundHandler<ByteBuffer, ByteBuffer> outbound() {
    return new Outbound();
  }

  Channel channel() {
    return channel;
  }

  /** Returns true once the other side has been admitted, and has begun with Hazelcast's protocol. */
  synchronized boolean isAdmitted() {
    return admitted;
  }

  /** Returns true once the other side has been refused; the connection may not be closed yet. */
  synchronized boolean isRefused() {
    return refused;
  }

  /** Notes that the connection will be closed soon. Any thread. */
  void abandon() {
    abandoned = true;
  }

  /**
   * Closes the connection at once. Must not be called on a thread of Hazelcast's network. Those threads are woken: Java
   * keeps the socket of a closed channel until its selectors have seen that, and they look up only every 5 s.
   */
  void close(String why) {
    if (channel.attributeMap().get(ServerConnection.class) instanceof ServerConnection connection) {
      connection.close(why, null);
      channel.inboundPipeline().wakeup();
      channel.outboundPipeline().wakeup();
    }
  }

  /** The handler of received bytes next to the network. */
  private final class Inbound extends InboundHandler<ByteBuffer, ByteBuffer> {

    @Override
    public void handlerAdded() {
      initSrcBuffer(networkBytes);
    }

    @Override
    public HandlerStatus onRead() throws IOException {
      src.flip();
      try {
        return read(src, dst);
      } finally {
        src.compact();
      }
    }
  }

  /** The handler of sent bytes next to the network. */
  private final class Outbound extends OutboundHandler<ByteBuffer, ByteBuffer> {

    @Override
    public void handlerAdded() {
      initDstBuffer(networkBytes);
    }

    @Override
    public HandlerStatus onWrite() throws IOException {
      dst.compact();
      try {
        return write(src, dst);
      } finally {
        dst.flip();
      }
    }
  }

  /** Begins the proof, or lets Hazelcast's bytes pass if there is no token to prove. */
  private void begin(byte[] certificate) {
    if (security.tokens().isNone()) {
      open = true;
    } else {
      proof = new MemberProof(security, channel.isClientMode(), certificate);
      reply = ByteBuffer.wrap(proof.opening());
    }
  }

  private synchronized HandlerStatus read(ByteBuffer network, ByteBuffer next) throws IOException {
    if (refused) {
      network.position(network.limit());
      return HandlerStatus.CLEAN;
    }
    try {
      if (engine == null) {
        return pass(network, next) ? HandlerStatus.DIRTY : HandlerStatus.CLEAN;
      }
      HandlerStatus status = decrypt(network);
      decrypted.flip();
      boolean more;
      try {
        more = pass(decrypted, next);
      } finally {
        decrypted.compact();
      }
      if (closed && !more) {
        throw new EOFException("the other side has ended TLS");
      }
      return more ? HandlerStatus.DIRTY : status;
    } catch (SSLException | ConnectionRefused e) {
      refuse(e);
      return HandlerStatus.CLEAN;
    }
  }

  /**
   * Takes the proof's bytes, and passes Hazelcast's bytes to its handlers.
   *
   * @return whether there are more than these could take
   */
  private boolean pass(ByteBuffer from, ByteBuffer next) throws ConnectionRefused {
    while (proof != null && from.remaining() >= proof.expected()) {
      byte[] part = new byte[proof.expected()];
      from.get(part);
      byte[] answer = proof.receive(part);
      if (answer.length > 0) {
        reply = ByteBuffer.wrap(answer);
      }
      if (proof.expected() == 0) {
        proof = null;
        open = true;
      }
      channel.outboundPipeline().wakeup();
    }
    if (!open || !from.hasRemaining()) {
      return false;
    }
    if (!admitted) {
      if (!channel.isClientMode() && !beginsAsMember(from)) {
        return false;
      }
      admitted = true;
      connections.admitted(this);
    }
    copy(from, next);
    return from.hasRemaining();
  }

  /** Returns true once the bytes of a member have come; false while there are too few to know. */
  private static boolean beginsAsMember(ByteBuffer from) throws ConnectionRefused {
    byte[] begin = new byte[Math.min(from.remaining(), SeedProtocol.MEMBER.length)];
    from.get(from.position(), begin);
    if (!Arrays.equals(begin, Arrays.copyOf(SeedProtocol.MEMBER, begin.length))) {
      throw new ConnectionRefused("it does not speak the protocol of Hazelcast's members", new byte[0]);
    }
    return begin.length == SeedProtocol.MEMBER.length;
  }

  private HandlerStatus decrypt(ByteBuffer network) throws IOException {
    if (!begun && network.hasRemaining()) {
      begun = true;
      byte first = network.get(network.position());
      if (first != HANDSHAKE_RECORD && first != ALERT_RECORD) {
        throw new ConnectionRefused(channel.isClientMode() ? ConnectionRefused.NO_TLS_THERE : ConnectionRefused.NO_TLS,
            new byte[0]);
      }
    }
    while (!computing) {
      HandshakeStatus handshake = engine.getHandshakeStatus();
      if (handshake == HandshakeStatus.NEED_TASK) {
        compute();
        break;
      } else if (handshake == HandshakeStatus.NEED_WRAP) {
        channel.outboundPipeline().wakeup(); // which wakes this pipeline again
        break;
      } else if (!network.hasRemaining() && handshake != HandshakeStatus.NEED_UNWRAP_AGAIN) {
        return HandlerStatus.CLEAN;
      }
      SSLEngineResult result = engine.unwrap(network, decrypted);
      switch (result.getStatus()) {
        case OK -> finish(result);
        case CLOSED -> {
          closed = true;
          return HandlerStatus.CLEAN;
        }
        case BUFFER_UNDERFLOW -> {
          return HandlerStatus.CLEAN; // a record larger than the buffer is an error of TLS
        }
        default -> {
          return HandlerStatus.DIRTY; // there is room when the decrypted bytes have been taken
        }
      }
    }
    return HandlerStatus.BLOCKED;
  }

  private synchronized HandlerStatus write(ByteBuffer from, ByteBuffer network) throws IOException {
    if (refused) {
      return end(network);
    } else if (engine != null) {
      try {
        return encrypt(from, network);
      } catch (SSLException | ConnectionRefused e) {
        refuse(e);
        return HandlerStatus.DIRTY;
      }
    }
    copy(reply, network);
    if (reply.hasRemaining()) {
      return HandlerStatus.DIRTY;
    } else if (!open) {
      return HandlerStatus.BLOCKED;
    }
    copy(from, network);
    return from.hasRemaining() ? HandlerStatus.DIRTY : HandlerStatus.CLEAN;
  }

  private HandlerStatus encrypt(ByteBuffer from, ByteBuffer network) throws IOException {
    boolean shookHands = false;
    try {
      while (!computing) {
        ByteBuffer next = NOTHING;
        switch (engine.getHandshakeStatus()) {
          case NEED_TASK -> {
            compute();
            return HandlerStatus.BLOCKED;
          }
          case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
            return HandlerStatus.BLOCKED;
          }
          case NEED_WRAP -> shookHands = true;
          default -> {
            next = reply.hasRemaining() ? reply : open ? from : null;
            if (next == null) {
              return HandlerStatus.BLOCKED;
            } else if (!next.hasRemaining()) {
              return HandlerStatus.CLEAN;
            }
          }
        }
        SSLEngineResult result = engine.wrap(next, network);
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
          return HandlerStatus.DIRTY;
        } else if (result.getStatus() != SSLEngineResult.Status.OK) {
          throw new EOFException("TLS has ended");
        }
        finish(result);
      }
      return HandlerStatus.BLOCKED;
    } finally {
      if (shookHands) {
        channel.inboundPipeline().wakeup(); // it may have waited for this, with bytes in its buffer
      }
    }
  }

  /** Continues with the proof if that was the last message of TLS's handshake. */
  private void finish(SSLEngineResult result) throws SSLException, ConnectionRefused {
    if (result.getHandshakeStatus() != HandshakeStatus.FINISHED || open || proof != null) {
      return;
    }
    if (!APPLICATION.equals(engine.getApplicationProtocol())) {
      throw new ConnectionRefused(ConnectionRefused.OTHER_PORT, new byte[0]);
    }
    Certificate[] called = channel.isClientMode() ? engine.getSession().getPeerCertificates()
        : engine.getSession().getLocalCertificates();
    try {
      begin(MessageDigest.getInstance("SHA-256").digest(called[0].getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new SSLException("the certificate cannot be read", e);
    }
    channel.outboundPipeline().wakeup();
  }

  /** Runs TLS's long computations on another thread; both pipelines continue after them. */
  private void compute() {
    computing = true;
    connections.compute(this, () -> {
      try {
        for (Runnable task = engine.getDelegatedTask(); task != null && !abandoned; task = engine.getDelegatedTask()) {
          task.run();
        }
      } finally {
        synchronized (this) {
          computing = false;
        }
        channel.inboundPipeline().wakeup();
        channel.outboundPipeline().wakeup();
      }
    });
  }

  /** Refuses the other side, with a reason that it can read; an admitted one is cut off. */
  private void refuse(IOException why) throws ConnectionRefused {
    connections.refused(this, why);
    if (admitted) {
      throw new ConnectionRefused(why.getMessage(), new byte[0]);
    }
    refused = true;
    open = false;
    proof = null;
    reply = why instanceof ConnectionRefused refusal ? ByteBuffer.wrap(refusal.answer()) : NOTHING;
    channel.outboundPipeline().wakeup();
  }

  /** Sends the last bytes of a refused connection, and the end of the stream. */
  private HandlerStatus end(ByteBuffer network) throws IOException {
    if (ended) {
      return HandlerStatus.BLOCKED;
    }
    boolean more = false;
    if (engine == null) {
      copy(reply, network);
      more = reply.hasRemaining();
    } else if (!engine.isOutboundDone()) {
      more = endTls(network);
    }
    if (more || network.position() > 0) {
      return HandlerStatus.DIRTY;
    }
    ended = true;
    channel.socket().shutdownOutput();
    return HandlerStatus.BLOCKED;
  }

  private boolean endTls(ByteBuffer network) {
    try {
      if (!reply.hasRemaining()) {
        engine.closeOutbound(); // an alert of the engine's own is sent all the same
      }
      SSLEngineResult result = engine.wrap(reply, network);
      return result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW
          || result.getStatus() == SSLEngineResult.Status.OK && result.bytesProduced() > 0;
    } catch (SSLException e) {
      return false; // there is nothing that could be said
    }
  }

  private static void copy(ByteBuffer from, ByteBuffer to) {
    int bytes = Math.min(from.remaining(), to.remaining());
    int limit = from.limit();
    from.limit(from.position() + bytes);
    to.put(from);
    from.limit(limit);
  }
}
