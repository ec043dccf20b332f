package io.regatta.predictor.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestObjectsTest {

  /** A format that notes the lines it is given. */
  private static final class Noting implements LineFormat {
    private final List<String> lines = new ArrayList<>();

    @Override
    public String name() {
      return "noting";
    }

    @Override
    public Layout layout() {
      return new Layout(1, 0);
    }

    @Override
    public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
      lines.add(line.file() + " at " + line.number() + ": " + line.text());
      return true;
    }
  }

  private static List<String> objects(String text) {
    Noting format = new Noting();
    RequestObjects objects = new RequestObjects(text.getBytes(StandardCharsets.UTF_8), format);
    assertThat(objects.read(SlotBatch.allocate(format.layout(), objects.rows()), 0)).isEqualTo(objects.rows());
    return format.lines;
  }

  @Test
  void findsObjectsInAnArrayAndOneAfterTheOther() {
    assertThat(objects("[{\"a\": \"} ] \\\" {\"},\n {\"b\": {\"c\": [1, {}]}}\n]\n")).containsExactly(
        "request, object 1 at 1: {\"a\": \"} ] \\\" {\"}", "request, object 2 at 2: {\"b\": {\"c\": [1, {}]}}");
    assertThat(objects("{\n\"a\":\n1}\r\n\r\n{\"b\": 2}{}")).containsExactly("request, object 1 at 1: {\n\"a\":\n1}",
        "request, object 2 at 5: {\"b\": 2}", "request, object 3 at 5: {}");
    assertThat(objects(" [ ] ")).isEmpty();
    assertThat(objects("")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', value = {
      "[{}; expected the end of the array",
      "[{} {}]; expected a comma or the end of the array",
      "[{},]; expected an object",
      "[,{}]; expected an object",
      "[1]; expected an object",
      "[[{}]]; expected an object",
      "[{}] {}; expected the end",
      "{\"a\": 1; the object that begins here has no end",
      "{\"a\\; the object that begins here has no end",
      "{} x; expected an object"})
  void refusesWhatStandsBetweenObjects(String text, String message) {
    assertThatThrownBy(() -> objects(text)).isInstanceOf(InvalidInput.class).hasMessageContaining("request, line 1: ")
        .hasMessageContaining(message);
  }
}
