"""Writes events.csv: python3 make.py (no packages). The pages in the directory above train on it.

40 users of three tastes see 30 items of three genres. Users click on items of their taste, and on phones more often; buy
some of what they click; rate; visit by age; and see the items in queries of six.
"""
import math
import os
import random

USERS, ITEMS, GENRES, QUERIES, SHOWN = 40, 30, 3, 300, 6

random.seed(25)
taste = [random.randrange(GENRES) for _ in range(USERS)]
genre = [i % GENRES for i in range(ITEMS)]
bias_of_user = [random.gauss(0, 0.5) for _ in range(USERS)]
bias_of_item = [random.gauss(0, 0.5) for _ in range(ITEMS)]
popular = [1 / (1 + i // GENRES) for i in range(ITEMS)]


def chance(logit):
    return int(random.random() < 1 / (1 + math.exp(-logit)))


def poisson(mean):
    limit, count, product = math.exp(-mean), 0, random.random()
    while product > limit:
        count, product = count + 1, product * random.random()
    return count


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "events.csv"), "w") as out:
    out.write("query,user,item,history,device,age,click,buy,rating,visits,segment,relevance\n")
    for query in range(QUERIES):
        user = random.randrange(USERS)
        device = random.choice(["phone", "tablet", "desktop"])
        age = 18 + (user * 7) % 50
        liked = [i for i in range(ITEMS) if genre[i] == taste[user]]
        for item in random.choices(range(ITEMS), popular, k=SHOWN):
            history = random.choices(liked, [popular[i] for i in liked], k=4) + random.choices(range(ITEMS), k=1)
            match = genre[item] == taste[user]
            click = chance((2 if match else -2) + (0.7 if device == "phone" else -0.3))
            buy = click and chance(0.08 * (age - 40))
            rating = 3 + (1 if match else -0.5) + bias_of_user[user] + bias_of_item[item] + random.gauss(0, 0.3)
            segment = ["young", "middle", "old"][min(2, (age - 18) // 17)]
            out.write(",".join(str(v) for v in (
                f"q{query}", f"u{user}", f"i{item}", "|".join(f"i{i}" for i in history), device,
                "" if random.random() < 0.05 else age, click, int(buy), f"{rating:.1f}", poisson(math.exp(0.03 * (age - 30))),
                segment, (2 if match else 0) + (1 if bias_of_item[item] > 0 else 0))) + "\n")
