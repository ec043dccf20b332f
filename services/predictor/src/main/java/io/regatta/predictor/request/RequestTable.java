package io.regatta.predictor.request;

import io.regatta.data.SlotBatch;
import io.regatta.data.feature.RequestRows;

/** A request whose text is a table of named columns. */
public final class RequestTable implements RequestExamples {

  private final byte[] text;
  private final RequestRows.Table table;
  private final int lines;

  /** Creates a request; the text is parsed when it is read. */
  public RequestTable(byte[] text, RequestRows.Table table) {
    this.text = text;
    this.table = table;
    int ends = 1;
    for (int i = 0; i < text.length; i++) { // a line also ends with CR LF, or with CR alone
      ends += text[i] == '\n' || text[i] == '\r' && (i + 1 == text.length || text[i + 1] != '\n') ? 1 : 0;
    }
    lines = ends;
  }

  @Override
  public int rows() {
    return lines;
  }

  @Override
  public long bytes() {
    return text.length;
  }

  @Override
  public int read(SlotBatch into, int at) {
    return table.read(text, into, at);
  }
}
