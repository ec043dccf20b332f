package io.regatta.node.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InlineTest {

  record Walk(@Setting(value = "3", unit = "m", doc = "walk: length.") int length) {
    Walk {
      if (length < 1) {
        throw new InvalidInput("length must be at least 1, not " + length);
      }
    }
  }

  record Swim(
      @Setting(value = "5", unit = "m", doc = "swim: length.") int length,
      @Setting(value = "false", doc = "swim: at night.") boolean dark) {
    Swim {
      if (length < 1) {
        throw new InvalidInput("length must be at least 1, not " + length);
      }
    }
  }

  record Ways(@Inline Walk walk, @Inline Swim swim) {}

  record Trip(@Setting(value = "home", doc = "Start.") String from, @Inline Ways ways) {}

  record Odd(@Inline Walk walk, @Setting(value = "", doc = "Length.") String length) {}

  /** Keys of vehicles, which another definition has. */
  static final class Vehicles implements Inline.Source {

    @Override
    public List<Inline.InlineKey> keys() {
      return List.of(new Inline.InlineKey("wheels", double.class, "4", "Number of wheels."),
          new Inline.InlineKey("length", int.class, "2", "drive: length."));
    }
  }

  record Drive(@Setting(value = "home", doc = "Start.") String from, @Inline(Vehicles.class) Map<String, Object> given,
      @Inline Walk walk) {}

  private static Trip trip(Object length) {
    return Settings.bind(new JsonObject().put("length", length), Trip.class);
  }

  @Test
  void keys_of_inline_records_stand_beside_the_others() {
    assertThat(Settings.bind(new JsonObject().put("from", "here").put("length", 8).put("dark", true), Trip.class))
        .isEqualTo(new Trip("here", new Ways(new Walk(8), new Swim(8, true))));
    assertThat(Settings.defaults(Trip.class)).isEqualTo(new Trip("home", new Ways(new Walk(3), new Swim(5, false))));
    assertThat(Schema.parts(trip(8))).isEqualTo(Map.of("from", "home", "length", 8, "dark", false));
  }

  @Test
  void a_shared_key_is_described_once() {
    assertThat(Settings.describe(Trip.class)).extracting(Schema.Entry::key).containsExactly("from", "length", "dark");
    assertThat(Settings.describe(Trip.class).get(1))
        .isEqualTo(new Schema.Entry("length", "int", "m", "3 (walk), 5 (swim)", false, "walk: length. swim: length.",
            false));
    assertThat(Schema.of(Trip.class).find(List.of("ways"))).isEmpty();
    assertThat(Schema.of(Trip.class).paths()).containsExactly("from", "length", "dark");
  }

  @Test
  void a_mistake_in_a_shared_key_is_told_once() {
    assertThatThrownBy(() -> trip(0)).isInstanceOf(InvalidInput.class).hasMessage("length must be at least 1, not 0");
    assertThatThrownBy(() -> trip("far")).isInstanceOf(InvalidInput.class)
        .hasMessage("key 'length': expected int, got \"far\"");
    assertThatThrownBy(() -> Settings.bind(new JsonObject().put("lenght", 1), Trip.class))
        .isInstanceOf(InvalidInput.class)
        .hasMessageContaining("unknown key 'lenght'").hasMessageContaining("'length'");
  }

  @Test
  void a_map_gets_the_values_that_are_given() {
    Drive drive = Settings.bind(new JsonObject().put("wheels", 3).put("length", 9), Drive.class);
    assertThat(drive).isEqualTo(new Drive("home", Map.of("wheels", 3.0, "length", 9), new Walk(9)));
    assertThat(Schema.parts(drive)).isEqualTo(Map.of("from", "home", "wheels", 3.0, "length", 9));
    assertThat(Settings.defaults(Drive.class)).isEqualTo(new Drive("home", Map.of(), new Walk(3)));
    assertThat(Schema.of(Drive.class).find(List.of("given"))).isEmpty();
    assertThat(Settings.describe(Drive.class)).extracting(Schema.Entry::key, Schema.Entry::defaultValue, Schema.Entry::derived)
        .containsExactly(tuple("from", "home", false), tuple("wheels", "4", true),
            tuple("length", "2 (drive), 3 (walk)", true));
    assertThatThrownBy(() -> Settings.bind(new JsonObject().put("wheels", "many"), Drive.class))
        .isInstanceOf(InvalidInput.class).hasMessage("key 'wheels': expected double, got \"many\"");
  }

  @Test
  void a_shared_key_of_two_types_is_refused() {
    assertThatThrownBy(() -> Schema.of(Odd.class)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key 'length'").hasMessageContaining("int in walk").hasMessageContaining("string in odd");
  }
}
