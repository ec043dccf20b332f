package io.regatta.data.feature;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.column.ColumnFacts.Numbers;
import io.regatta.data.column.ColumnFacts.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Facts of a column in {@code features.json}. Stateless. */
final class ColumnFactsJson {

  private ColumnFactsJson() {}

  static void write(ColumnFacts facts, ObjectNode to) {
    to.put("type", facts.type().name().toLowerCase(Locale.ROOT)).put("missing", facts.missing()).put("distinct", facts.distinct())
        .put("distinct_error", facts.distinctError());
    facts.numbers().ifPresent(numbers -> {
      to.put("min", numbers.min()).put("max", numbers.max()).put("mean", numbers.mean()).put("deviation", numbers.deviation());
      ArrayNode quantiles = to.putArray("quantiles");
      numbers.quantiles().forEach(quantiles::add);
      to.put("quantile_error", numbers.rankError());
    });
    if (!Double.isNaN(facts.labelAuc())) {
      to.put("label_auc", facts.labelAuc());
    }
  }

  /** Reads facts, which are for people and for warnings: what is not there is taken for 0. */
  static ColumnFacts read(JsonNode from, long rows) {
    List<Double> quantiles = new ArrayList<>();
    from.path("quantiles").forEach(each -> quantiles.add(each.asDouble()));
    Optional<Numbers> numbers = !from.has("min") ? Optional.empty() : Optional.of(new Numbers(from.path("min").asDouble(),
        from.path("max").asDouble(), from.path("mean").asDouble(), from.path("deviation").asDouble(), quantiles,
        from.path("quantile_error").asDouble()));
    return new ColumnFacts(type(from.path("type").asText()), rows, from.path("missing").asLong(), from.path("distinct").asLong(),
        from.path("distinct_error").asDouble(), numbers, from.path("label_auc").asDouble(Double.NaN));
  }

  private static Type type(String name) {
    for (Type type : Type.values()) {
      if (type.name().equalsIgnoreCase(name)) {
        return type;
      }
    }
    return Type.TEXT;
  }
}
