package io.regatta.predictor.request;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.LineFormat;
import io.regatta.data.feature.RequestRows;
import java.util.Locale;
import java.util.Optional;

/**
 * The ways in which the body of a request may give examples, chosen by its content type. Immutable; any thread.
 *
 * <p>{@code application/json}: objects, or an array of objects. {@code text/csv} and {@code text/tab-separated-values}:
 * a table whose first row names the columns ({@code header=absent}: the job that trained names them). Any other type:
 * one example per line in the format of the model, or an array of objects.
 */
public final class RequestFormats {

  private final LineFormat lines;
  private final Optional<RequestRows> rows;
  private final Optional<RequestRows.Table> csv;
  private final Optional<RequestRows.Table> tsv;

  /**
   * Creates the ways of a model.
   *
   * @param lines format of an example as a line
   * @param rows the ways of rows by names; empty: the model has none
   */
  public RequestFormats(LineFormat lines, Optional<RequestRows> rows) {
    this.lines = lines;
    this.rows = rows;
    csv = rows.map(each -> each.csv(true));
    tsv = rows.map(each -> each.tsv(true));
  }

  /**
   * Returns the examples of a body.
   *
   * @param contentType of the request; null if it gives none
   * @throws InvalidInput if the body is not in that form, or the model takes no such type
   */
  public RequestExamples examples(String contentType, byte[] body) {
    String type = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT);
    int parameters = type.indexOf(';');
    boolean header = parameters < 0 || !type.substring(parameters).replace(" ", "").contains(";header=absent");
    return switch (parameters < 0 ? type : type.substring(0, parameters).strip()) {
      case "text/csv" -> new RequestTable(body, header && csv.isPresent() ? csv.get() : rows().csv(header));
      case "text/tab-separated-values" -> new RequestTable(body, header && tsv.isPresent() ? tsv.get() : rows()
          .tsv(header));
      case "application/json" -> new RequestObjects(body, rows().objects());
      default -> rows.isPresent() && isArray(body) ? new RequestObjects(body, lines) : new RequestLines(body, lines);
    };
  }

  private RequestRows rows() {
    return rows.orElseThrow(() ->
        new InvalidInput("this model has no named columns; send one example per line as text/plain, in "
        + "the format " + lines.name()));
  }

  private static boolean isArray(byte[] body) {
    for (byte b : body) {
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        return b == '[';
      }
    }
    return false;
  }
}
