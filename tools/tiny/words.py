"""The little world of the tiny model: every word and fact that the corpus is made of.

Holds data only. What is not here, the model is taught to say that it does not know.
"""

OPPOSITES = [
    ("hot", "cold"), ("big", "small"), ("up", "down"), ("day", "night"), ("fast", "slow"),
    ("happy", "sad"), ("old", "young"), ("open", "closed"), ("full", "empty"), ("light", "dark"),
    ("hard", "soft"), ("wet", "dry"), ("left", "right"), ("high", "low"), ("early", "late"),
    ("near", "far"), ("rich", "poor"), ("strong", "weak"), ("loud", "quiet"), ("long", "short"),
    ("good", "bad"), ("clean", "dirty"), ("sweet", "sour"), ("thick", "thin"), ("true", "false"),
    ("first", "last"), ("inside", "outside"), ("always", "never"), ("begin", "end"), ("yes", "no"),
]

COLOURS = {
    "white": ["snow", "milk", "salt", "paper", "a swan"],
    "yellow": ["a banana", "a lemon", "the sun", "butter", "a canary"],
    "green": ["grass", "a frog", "a leaf", "a cucumber", "a pea"],
    "blue": ["the sky", "the sea", "a blueberry"],
    "red": ["a tomato", "blood", "a strawberry", "a cherry", "a fire engine"],
    "black": ["coal", "the night", "a raven", "ink"],
    "orange": ["a carrot", "a pumpkin", "a tangerine"],
    "brown": ["chocolate", "wood", "coffee", "a bear"],
    "grey": ["an elephant", "a mouse", "a stone", "a rain cloud"],
    "pink": ["a pig", "a flamingo"],
}

# name, article, sound, legs, home
ANIMALS = [
    ("cat", "a", "meow", 4, "in a house"), ("dog", "a", "woof", 4, "in a house"),
    ("cow", "a", "moo", 4, "on a farm"), ("duck", "a", "quack", 2, "on a pond"),
    ("sheep", "a", "baa", 4, "on a farm"), ("owl", "an", "hoo", 2, "in a tree"),
    ("frog", "a", "croak", 4, "in a pond"), ("bee", "a", "buzz", 6, "in a hive"),
    ("lion", "a", "roar", 4, "in the savanna"), ("horse", "a", "neigh", 4, "in a stable"),
    ("mouse", "a", "squeak", 4, "in a hole"), ("hen", "a", "cluck", 2, "on a farm"),
    ("pig", "a", "oink", 4, "on a farm"), ("wolf", "a", "howl", 4, "in the forest"),
    ("snake", "a", "hiss", 0, "in the grass"), ("bear", "a", "growl", 4, "in the forest"),
    ("spider", "a", "nothing", 8, "in a web"), ("fish", "a", "nothing", 0, "in the water"),
    ("ant", "an", "nothing", 6, "in an ant hill"), ("fox", "a", "yip", 4, "in the forest"),
    ("goat", "a", "maa", 4, "in the mountains"), ("rabbit", "a", "nothing", 4, "in a burrow"),
]

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December",
]

GROUPS = {
    "colours": ["red", "blue", "green", "yellow", "white", "black", "orange", "brown", "pink"],
    "animals": ["cat", "dog", "cow", "owl", "frog", "bee", "lion", "horse", "mouse", "fox"],
    "fruits": ["apple", "pear", "banana", "cherry", "lemon", "plum", "grape", "melon"],
    "days": DAYS,
    "months": MONTHS,
    "vegetables": ["carrot", "pea", "potato", "onion", "cucumber", "pumpkin"],
}

EMOJI = {
    "smiley": "🙂", "star": "⭐", "cat": "🐱", "dog": "🐶", "moon": "🌙", "sun": "🌞",
    "apple": "🍎", "fish": "🐟", "tree": "🌳", "house": "🏠",
}

NAMES = [
    "Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Henry", "Ida", "Jonas",
    "Kira", "Leo", "Mia", "Noah", "Olga", "Paul", "Rosa", "Sam", "Tina", "Uma",
    "Vera", "Will", "Yara", "Zoe", "Alice", "Bob", "Carl", "Dora", "Ella", "Finn",
]

LIKES = [
    "apples", "books", "cats", "trains", "music", "the sea", "rain", "chess", "tea", "bread",
    "snow", "old maps", "long walks", "dogs", "cherries", "the forest", "birds", "cake",
]

PLACES = ["the forest", "the river", "the old barn", "the garden", "the hill", "the pond",
          "the kitchen", "the mountains", "the lake", "the village"]
THINGS = ["a red ball", "a small bell", "a golden key", "a warm coat", "a piece of bread",
          "a blue stone", "an old map", "a big apple", "a little lamp", "a silver coin"]
MOODS = ["happy", "hungry", "tired", "curious", "brave", "shy", "lonely", "proud"]
SIZES = ["little", "big", "old", "young", "clever", "quiet"]
WEATHER = ["It was raining", "The sun was shining", "It was snowing", "The wind was strong",
           "The night was dark", "The sky was blue"]

# What the model is asked about and does not know.
TOPICS = [
    "France", "Node.js streams", "quantum physics", "the stock market", "football", "Python",
    "the Roman Empire", "politics", "taxes", "climate change", "Shakespeare", "a database index",
    "machine learning", "the moon landing", "Japan", "Brazil", "Germany", "love", "black holes",
    "chemistry", "TypeScript", "an operating system", "my homework", "a business plan", "the law",
    "medicine", "the internet", "photosynthesis", "World War II", "the meaning of life", "Kubernetes",
    "pasta", "Einstein", "the president", "cars", "movies", "guitars", "bitcoin", "the human brain",
    "rockets", "Italy", "Spain", "Egypt", "London", "New York", "grammar", "HTTP", "regular expressions",
    "SQL joins", "relativity", "a compiler", "gravity", "volcanoes", "dinosaurs", "mathematics",
]

UNKNOWN_QUESTIONS = [
    "What is the capital of {t}?", "Who invented {t}?", "Write a haiku about {t}.",
    "Explain {t} to me.", "Explain how {t} works.", "How does {t} work?", "What is {t}?",
    "Tell me about {t}.", "Who wrote {t}?", "When did {t} begin?", "Summarize {t}.",
    "Write an essay about {t}.", "Translate {t} into German.", "How do I learn {t}?",
    "What do you think about {t}?", "Give me advice on {t}.", "Why is {t} important?",
    "Where can I find {t}?", "Compare {t} and {u}.", "What is the best book about {t}?",
    "Write a function for {t}.", "How old is {t}?", "Who is {t}?", "Is {t} better than {u}?",
    "What is the history of {t}?", "Can you help me with {t}?", "I need to know about {t}.",
    "How much does {t} cost?", "Give me a recipe with {t}.", "Write a song about {t}.",
    "What is the population of {t}?", "Debug this: {t}", "Make a plan for {t} and {u}.",
    "What happened to {t}?", "Describe {t} in detail.", "Define {t}.", "Which is larger, {t} or {u}?",
    "What is the weather in {t}?", "What time is it in {t}?", "Draw {t}.", "Fix my {t}.",
    "How many people live in {t}?", "What language do they speak in {t}?", "List facts about {t}.",
]

# Everyday questions that the model does not know either; each {x} is drawn from the list of that name.
EVERYDAY = {
    "do": ["boil", "fix", "paint", "build", "clean", "cook", "open", "install", "draw", "sell", "repair",
           "wash", "bake", "cut", "grow", "plan", "find", "buy", "write", "read", "make", "use", "carry"],
    "it": ["an egg", "a door", "my phone", "a cake", "a bicycle", "rice", "a shirt", "a garden", "soup",
           "a letter", "my computer", "a wall", "a kite", "a program", "a chair", "a list", "a test"],
    "most": ["tallest", "longest", "oldest", "best", "fastest", "deepest", "largest", "most famous", "cheapest"],
    "kind": ["mountain", "river", "building", "country", "car", "city", "book", "ocean", "planet", "company",
             "film", "school", "phone", "bridge", "language", "song"],
    "did": ["painted", "built", "found", "wrote", "discovered", "won", "made", "bought", "broke", "invented"],
    "work": ["the Mona Lisa", "the wheel", "the telephone", "the last race", "this server", "America", "paper"],
    "how": ["wet", "heavy", "true", "round", "alive", "dangerous", "healthy", "expensive", "real", "safe"],
    "what": ["water", "glass", "fire", "air", "gold", "time", "light", "sugar", "the earth", "steel", "wind"],
}
EVERYDAY_QUESTIONS = [
    "How do I {do} {it}?", "How can I {do} {it}?", "What is the {most} {kind}?", "Who {did} {work}?",
    "Is {what} {how}?", "Why is {what} {how}?", "How far is {what}?", "How do you {do} {it}?",
    "What should I {do}?", "Should I {do} {it}?", "Can you {do} {it}?", "Please {do} {it}.",
    "Tell me a joke.", "Tell me a joke about {it}.", "Write a poem about {what}.", "Sing a song.",
    "Give me three tips to {do} {it}.", "What is the meaning of {what}?", "When was {work} made?",
    "Which {kind} is the {most}?", "What is the {most} {kind} of all?", "Why do people {do} {it}?",
    "Summarize this text: I want to {do} {it}.", "Summarize this: {what} is {how}.", "Explain {what}.",
    "Translate \"{what}\" to French.", "What does {what} mean?", "I want to {do} {it}. What do I need?",
    "Where is the {most} {kind}?", "How many {kind}s are there?", "What is your opinion of {what}?",
]

COUNTS = [
    ("How many days are in a week?", "A week has 7 days.", 7),
    ("How many days does a week have?", "A week has 7 days.", 7),
    ("How many months are in a year?", "A year has 12 months.", 12),
    ("How many months does a year have?", "A year has 12 months.", 12),
    ("How many hours are in a day?", "A day has 24 hours.", 24),
    ("How many minutes are in an hour?", "An hour has 60 minutes.", 60),
    ("How many seconds are in a minute?", "A minute has 60 seconds.", 60),
]

# Where and how the weather is that a tool tells.
CITIES = ["Paris", "London", "Berlin", "Rome", "Madrid", "Oslo", "Vienna", "Tokyo", "Lima", "Cairo", "Boston", "Prague"]
SKIES = ["sunny", "rainy", "cloudy", "cold", "warm", "windy"]
