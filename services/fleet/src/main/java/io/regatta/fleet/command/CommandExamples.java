package io.regatta.fleet.command;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/**
 * The examples to copy at the end of the {@code --help} of commands that have none in their footer. A test parses them
 * all. Stateless.
 */
final class CommandExamples {

  private static final Map<String, List<String>> LINES = new HashMap<>();

  static {
    put("regatta simulate", "regatta simulate configs/wide-and-deep.yaml",
        "regatta simulate configs/wide-and-deep.yaml --mode geo --trainers 3 --max-steps 200 --set optimizer.learning_rate=0.05");
    put("regatta run", "regatta run configs/ctr-dnn.yaml",
        "regatta run --role pserver --id 0 --server-endpoints 10.0.0.1:7164,10.0.0.2:7164 configs/ctr-dnn.yaml");
    put("regatta parity", "regatta parity configs/fit-a-line.yaml --data data/boston_housing");
    put("regatta status", "regatta status --seeds 10.0.0.1:5701",
        "regatta status --server-endpoints 10.0.0.1:7164,10.0.0.2:7164 --job ctr-dnn");
    put("regatta predict", "regatta predict --model output/ctr-dnn data/criteo/test.tsv");
    put("regatta checkpoint", "regatta checkpoint inspect output/ctr-dnn");
    put("regatta checkpoint inspect", "regatta checkpoint inspect output/ctr-dnn");
    put("regatta checkpoint verify", "regatta checkpoint verify output");
    put("regatta checkpoint reshard", "regatta checkpoint reshard output/ctr-dnn/snapshot-100 resharded --shards 4");
    put("regatta checkpoint merge", "regatta checkpoint merge output/ctr-dnn/snapshot-200 merged");
    put("regatta checkpoint export", "regatta checkpoint export output/ctr-dnn/snapshot-200 model");
    put("regatta prepare", "regatta prepare split book.txt --parts 3 --to data/book --name train.txt");
    put("regatta prepare split", "regatta prepare split book.txt --parts 3 --to data/book --name train.txt");
    put("regatta prepare criteo", "regatta prepare criteo day_0.gz day_1.gz --parts 8 --to data/slots");
    put("regatta prepare dictionary", "regatta prepare dictionary train.txt --min-count 10 --to words.txt");
    put("regatta prepare generate", "regatta prepare generate --rows 10000 --test-rows 1000 --to data/clicks");
    put("regatta init", "regatta init data/shop/train.csv", "regatta init data/shop/rows.parquet --label bought --positive yes --to shop.yaml");
    put("regatta analyze", "regatta analyze clicks.yaml --threads 4 --overwrite");
    put("regatta explain", "regatta explain output/shop --data data/shop/test.csv --result shop.json --plot shop.svg");
    put("regatta tune", "regatta tune clicks.yaml --trials 27 --parallel 2",
        "regatta tune clicks.yaml --find-learning-rate --steps 200");
    put("regatta version", "regatta version");
    put("regatta completion", "source <(regatta completion bash)");
    ServiceRoles.descriptions().keySet().stream().filter(service -> !service.equals("pserver")) // which has its own
        .forEach(service -> put("regatta " + service, "regatta " + service + " -conf " + service + ".yaml"));
  }

  private CommandExamples() {}

  private static void put(String command, String... lines) {
    LINES.put(command, List.of(lines));
  }

  /** Adds the examples to the end of a command's help, and to its subcommands'. */
  static void addTo(CommandLine command) {
    List<String> examples = LINES.getOrDefault(command.getCommandSpec().qualifiedName(), List.of());
    if (!examples.isEmpty()) {
      List<String> footer = new ArrayList<>(List.of(command.getCommandSpec().usageMessage().footer()));
      footer.add("");
      footer.add("For example:");
      examples.forEach(line -> footer.add("  " + line));
      command.getCommandSpec().usageMessage().footer(footer.toArray(String[]::new));
    }
    command.getSubcommands().values().stream().distinct().forEach(CommandExamples::addTo);
  }
}
