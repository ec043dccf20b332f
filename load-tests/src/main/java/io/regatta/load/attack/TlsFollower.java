package io.regatta.load.attack;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;

/**
 * Follows one direction of a TCP connection, and tells whether all of it is TLS records. After a gap in the recording
 * it stops. Owned by its {@link Capture}.
 */
final class TlsFollower {
  private static final int RECORD_HEAD = 5;
  private static final int LOWEST_TYPE = 20;
  private static final int HIGHEST_TYPE = 23;
  private static final int HANDSHAKE = 22;
  private static final int CLIENT_HELLO = 1;
  private static final int MOST_RECORD = (1 << 14) + 2048;
  private static final int MOST_WAITING = 4096;
  private static final int MOST_EXCERPT = 1 << 16;
  private static final int MOST_HELLO = 1 << 14;
  private static final int SERVER_NAME = 0;

  private final TreeMap<Long, ByteBuffer> waiting = new TreeMap<>();
  private final byte[] head = new byte[RECORD_HEAD];
  private final ByteBuffer hello = ByteBuffer.allocate(MOST_HELLO);
  private final StringBuilder clear = new StringBuilder();
  private long next = -1;
  private int first;
  private int headBytes;
  private int recordLeft;
  private boolean isHello;
  private boolean isClear;
  private boolean incomplete;
  private String serverName = "";
  private long bytes;

  /** Takes the payload of a packet, which may come twice or too early. */
  void segment(int sequence, ByteBuffer payload) {
    if (next < 0) {
      first = sequence;
      next = 0;
    }
    long at = relative(sequence);
    if (at < -(1L << 30) || waiting.size() > MOST_WAITING) {
      incomplete = true;
      return;
    }
    waiting.merge(at, payload, (one, other) -> one.remaining() >= other.remaining() ? one : other);
    while (!waiting.isEmpty() && waiting.firstKey() <= next) {
      long begin = waiting.firstKey();
      ByteBuffer piece = waiting.pollFirstEntry().getValue();
      if (begin + piece.remaining() > next) {
        piece.position(piece.position() + (int) (next - begin));
        next += piece.remaining();
        bytes += piece.remaining();
        follow(piece);
      }
    }
  }

  /** Returns the offset in the stream: sequence numbers wrap around. */
  private long relative(int sequence) {
    long offset = Integer.toUnsignedLong(sequence - first);
    long base = next & ~0xffffffffL;
    long at = base + offset;
    return at - next > 1L << 31 ? at - (1L << 32) : next - at > 1L << 31 ? at + (1L << 32) : at;
  }

  private void follow(ByteBuffer piece) {
    while (piece.hasRemaining()) {
      if (isClear) {
        excerpt(piece);
        return;
      }
      if (recordLeft > 0) {
        int n = Math.min(recordLeft, piece.remaining());
        ByteBuffer part = piece.slice(piece.position(), n);
        if (isHello && hello.remaining() >= n) {
          hello.put(part);
        }
        piece.position(piece.position() + n);
        recordLeft -= n;
        if (recordLeft == 0 && isHello) {
          isHello = false;
          serverName = serverNameOf(hello.flip());
        }
      } else {
        head[headBytes++] = piece.get();
        if (headBytes == RECORD_HEAD) {
          headBytes = 0;
          begin();
        }
      }
    }
    if (!isClear && recordLeft == 0 && headBytes > 0 && !isHead(headBytes)) {
      isClear = true;
      excerpt(ByteBuffer.wrap(head, 0, headBytes));
    }
  }

  private boolean isHead(int known) {
    return head[0] >= LOWEST_TYPE && head[0] <= HIGHEST_TYPE && (known < 2 || head[1] == 3);
  }

  private void begin() {
    recordLeft = (head[3] & 0xff) << 8 | head[4] & 0xff;
    if (!isHead(RECORD_HEAD) || recordLeft > MOST_RECORD) {
      isClear = true;
      excerpt(ByteBuffer.wrap(head));
      return;
    }
    isHello = head[0] == HANDSHAKE && hello.position() == 0 && bytes > 0 && serverName.isEmpty() && hello.limit()
        == hello.capacity();
  }

  private void excerpt(ByteBuffer piece) {
    while (piece.hasRemaining() && clear.length() < MOST_EXCERPT) {
      clear.append((char) (piece.get() & 0xff));
    }
  }

  /** Returns the name that a ClientHello gives, or nothing. */
  private static String serverNameOf(ByteBuffer hello) {
    try {
      if (hello.get(0) != CLIENT_HELLO) {
        return "";
      }
      int at = 4 + 2 + 32;
      at += 1 + (hello.get(at) & 0xff);
      at += 2 + Short.toUnsignedInt(hello.getShort(at));
      at += 1 + (hello.get(at) & 0xff);
      int end = at + 2 + Short.toUnsignedInt(hello.getShort(at));
      at += 2;
      while (at + 4 <= end) {
        int length = Short.toUnsignedInt(hello.getShort(at + 2));
        if (hello.getShort(at) == SERVER_NAME && length > 5) {
          return StandardCharsets.ISO_8859_1.decode(hello.slice(at + 9, length - 5)).toString();
        }
        at += 4 + length;
      }
      return "";
    } catch (IndexOutOfBoundsException noHello) {
      return "";
    }
  }

  /** Returns the words in what is not TLS; empty if all is. */
  String clear() {
    return isClear ? Texts.words(clear.toString()) : "";
  }

  String serverName() {
    return serverName;
  }

  long bytes() {
    return bytes;
  }

  /** Returns true if a part of it is missing in the recording. */
  boolean isIncomplete() {
    return incomplete || !waiting.isEmpty();
  }
}
