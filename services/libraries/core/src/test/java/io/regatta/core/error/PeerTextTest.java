package io.regatta.core.error;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerTextTest {

  @Test
  void escapesWhatForgesLinesOrChangesATerminal_andKeepsLetters() {
    assertThat(PeerText.of("/a\r\n\u001b[2J\u2028b\u009b\u202e\u007f"))
        .isEqualTo("/a\\u000d\\u000a\\u001b[2J\\u2028b\\u009b\\u202e\\u007f");
    assertThat(PeerText.of("Stra\u00dfe \u4e2d\ud83d\ude00")).isEqualTo("Stra\u00dfe \u4e2d\ud83d\ude00");
    assertThat(PeerText.of(null)).isEqualTo("null");
    assertThat(PeerText.of("")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\ud83d", "\ude00", "a\ud83d", "\ude00\ud83d", "\ue000", "\ufeff", "\u00ad", "\u2066"})
  void escapesInvisibleOnesAndHalvesOfCharacters(String text) {
    assertThat(PeerText.of(text)).matches("a?(\\\\u[0-9a-f]{4})+");
  }

  @Test
  void cutsLongTexts_andSaysHowLongTheyAre() {
    assertThat(PeerText.of("x".repeat(8000))).isEqualTo("x".repeat(200) + "... (8000 characters)");
    assertThat(PeerText.of("x".repeat(8000), 3)).isEqualTo("xxx... (8000 characters)");
    assertThat(PeerText.of("\u001b".repeat(8000))).hasSizeLessThan(1300);
    assertThat(PeerText.of("xx\ud83d\ude00", 3)).isEqualTo("xx\\ud83d\\ude00... (4 characters)".replace("\\ude00", ""));
    assertThat(PeerText.message("x".repeat(16_384))).isEqualTo("x".repeat(16_384));
    assertThat(PeerText.message("x".repeat(16_385))).endsWith("... (16385 characters)");
  }

  @Test
  void messagesOfErrorsAreOneLine_whoeverWroteWhatIsInThem() {
    String name = "a\r\nb\u001b]0;c\u0007" + "x".repeat(100_000);
    assertThat(new InvalidInput("job '" + name + "' is not here").getMessage())
        .startsWith("job 'a\\u000d\\u000ab\\u001b]0;c\\u0007xxx").hasSizeLessThan(17_000).matches("[ -~]*");
    assertThat(new InvalidInput(null).getMessage()).isNull();
  }

  @Test
  void refusesNamesThatAreTooLongOrHaveInvisibleCharacters() {
    assertThat(PeerText.requireName("job", "Stra\u00dfe 1", 8, "limit")).isEqualTo("Stra\u00dfe 1");
    for (String name : List.of("", "x".repeat(9), "a\r\nb", "\u001b[2J", "a\u202eb", "\ud83d")) {
      assertThatThrownBy(() -> PeerText.requireName("job", name, 8, "limit")).isInstanceOf(InvalidInput.class)
          .satisfies(e -> assertThat(e.getMessage()).matches("[ -~]*"));
    }
  }
}
