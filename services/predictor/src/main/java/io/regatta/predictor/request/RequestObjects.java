package io.regatta.predictor.request;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import it.unimi.dsi.fastutil.ints.IntArrayList;

/**
 * A request with one example per JSON object: an array of objects, or objects one after the other, on any lines. Only
 * the ends of objects are found here; the format parses each of them.
 */
public final class RequestObjects implements RequestExamples {

  private final byte[] text;
  private final LineFormat format;
  /** Of each object: its first byte, the index after its last byte, and its line. */
  private final IntArrayList places = new IntArrayList();
  private int at;
  private int line = 1;

  /**
   * Finds the objects.
   *
   * @throws InvalidInput if something else stands between them, or one has no end
   */
  public RequestObjects(byte[] text, LineFormat format) {
    this.text = text;
    this.format = format;
    boolean array = skipBlanks() && text[at] == '[';
    if (array) {
      at++;
    }
    boolean closed = false;
    while (skipBlanks() && !closed) {
      if (array && rows() > 0 && text[at] == ',') {
        at++;
        skipBlanks();
      } else if (array && text[at] == ']') {
        at++;
        closed = true;
        continue;
      } else if (array && rows() > 0) {
        throw wrong("a comma or the end of the array");
      }
      object();
    }
    if (array && !closed) {
      throw wrong("the end of the array");
    }
    if (closed && skipBlanks()) {
      throw wrong("the end");
    }
  }

  private void object() {
    if (at == text.length || text[at] != '{') {
      throw wrong("an object");
    }
    int from = at;
    int ofLine = line;
    int depth = 0;
    boolean quoted = false;
    for (; at < text.length; at++) {
      byte b = text[at];
      if (b == '\n') {
        line++;
      } else if (quoted) {
        if (b == '\\') {
          at++;
        } else {
          quoted = b != '"';
        }
      } else if (b == '"') {
        quoted = true;
      } else if (b == '{') {
        depth++;
      } else if (b == '}' && --depth == 0) {
        at++;
        places.add(from);
        places.add(at);
        places.add(ofLine);
        return;
      }
    }
    throw new InvalidInput("request, line " + ofLine + ": the object that begins here has no end");
  }

  /** Returns false at the end of the text. */
  private boolean skipBlanks() {
    while (at < text.length && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
      line += text[at++] == '\n' ? 1 : 0;
    }
    return at < text.length;
  }

  private InvalidInput wrong(String expected) {
    int end = Math.min(text.length, at + 60);
    return new InvalidInput("request, line " + line + ": " + BadLines.expected(expected
        + " (an array of JSON objects, or one object per "
        + "line)", new Line("request", line, text, Math.min(at, end), end).text()));
  }

  @Override
  public int rows() {
    return places.size() / 3;
  }

  @Override
  public long bytes() {
    return text.length;
  }

  @Override
  public int read(SlotBatch into, int row) {
    BadLines badLines = BadLines.refused();
    int read = 0;
    for (int i = 0; i < places.size(); i += 3) {
      Line object = new Line("request, object " + (i / 3 + 1), places.getInt(i + 2), text, places.getInt(i),
          places.getInt(i + 1));
      read += format.parse(object, into, row + read, badLines) ? 1 : 0;
    }
    return read;
  }
}
